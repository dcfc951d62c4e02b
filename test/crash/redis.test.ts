import { crashSuite } from "./suite.ts";

crashSuite("redis");
