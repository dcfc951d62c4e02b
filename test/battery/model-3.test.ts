import { modelPart } from "./model.ts";

modelPart(3, 4);
