import { crashSuite } from "./suite.ts";

crashSuite("sqlite");
