/** Machine images. */
import type { Ask } from "./ask.ts";
import type { Caller } from "./caller.ts";
import { describeImages } from "./ec2-actions.ts";
import { isAwsError } from "./errors.ts";

export interface Image {
  readonly id: string;
  readonly architecture: string;
  readonly rootDeviceName: string;
  /** `available`, `pending`, `deregistered`, … */
  readonly state: string;
}

export class Images {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** The image of this id; undefined when there is none, or none that this account may see. */
  async byId(id: string, ask: Ask): Promise<Image | undefined> {
    try {
      const { Images: [found] = [] } = await this.#caller.call(describeImages, { ImageIds: [id] }, ask);
      return found && { id, architecture: found.Architecture ?? "", rootDeviceName: found.RootDeviceName ?? "", state: found.State ?? "" };
    } catch (error) {
      if (isAwsError(error) && error.code.startsWith("InvalidAMIID.")) return undefined;
      throw error;
    }
  }
}
