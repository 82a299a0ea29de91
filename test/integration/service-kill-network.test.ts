import { testKilled } from "../bed/service-kill.ts";

// A file for each kind: they run side by side, and most of their time they wait.
testKilled("network");
