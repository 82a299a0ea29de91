import type { ControllerTable } from "./context.ts";

/** The controllers this build carries. Each loads its domain only when it runs. */
export const controllerTable: ControllerTable = {};
