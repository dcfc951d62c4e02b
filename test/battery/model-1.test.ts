import { modelPart } from "./model.ts";

modelPart(1, 4);
