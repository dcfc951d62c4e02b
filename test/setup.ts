/** Tests move clocks by hand: what is loaded at the first call must be there before time is moved. */
import { preload } from "../src/create.ts";

await preload();
