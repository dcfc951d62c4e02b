import { modelPart } from "./model.ts";

modelPart(4, 4);
