import { modelPart } from "./model.ts";

modelPart(2, 4);
