/** Imported before anything else by test processes that compute all the time: those that wait for real clocks go first. */
import { setPriority } from "node:os";

setPriority(10);
