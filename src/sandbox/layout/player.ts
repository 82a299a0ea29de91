/** Plays back the AWS calls by which a layout of `deploy/terraform` is made and removed. */
import {
  AllocateAddressCommand,
  AssociateRouteTableCommand,
  AttachInternetGatewayCommand,
  AuthorizeSecurityGroupEgressCommand,
  AuthorizeSecurityGroupIngressCommand,
  CreateInternetGatewayCommand,
  CreateNatGatewayCommand,
  CreateRouteCommand,
  CreateRouteTableCommand,
  CreateSecurityGroupCommand,
  CreateSubnetCommand,
  CreateVpcCommand,
  DeleteInternetGatewayCommand,
  DeleteKeyPairCommand,
  DeleteNatGatewayCommand,
  DeleteRouteCommand,
  DeleteRouteTableCommand,
  DeleteSecurityGroupCommand,
  DeleteSubnetCommand,
  DeleteVpcCommand,
  DetachInternetGatewayCommand,
  DisassociateRouteTableCommand,
  EC2Client,
  ImportKeyPairCommand,
  ModifyInstanceAttributeCommand,
  ModifySubnetAttributeCommand,
  ModifyVpcAttributeCommand,
  ReleaseAddressCommand,
  RevokeSecurityGroupEgressCommand,
  RevokeSecurityGroupIngressCommand,
  RunInstancesCommand,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import {
  AddRoleToInstanceProfileCommand,
  CreateInstanceProfileCommand,
  CreateRoleCommand,
  DeleteInstanceProfileCommand,
  DeleteRoleCommand,
  DeleteRolePolicyCommand,
  IAMClient,
  PutRolePolicyCommand,
  RemoveRoleFromInstanceProfileCommand,
} from "@aws-sdk/client-iam";
import { type Clock, sleep } from "../../runtime/world.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { sdkConfig } from "../cloud/sdk-handler.ts";

/** One call that changes something. */
export interface LayoutCall {
  readonly service: "ec2" | "iam";
  readonly action: string;
  /** `<ADDRESS>` stands for the id that AWS gave to the resource of this address. */
  readonly input: object;
  /** Which resources get their ids from the answer, and where in it these are: `Vpc.VpcId`. */
  readonly gives?: Readonly<Record<string, string>>;
}

/** A root module of a layout: the calls of `tofu apply` and those of `tofu destroy`. */
export interface LayoutStep {
  readonly make: readonly LayoutCall[];
  readonly remove: readonly LayoutCall[];
}

/** What AWS answers while something is still on its way out. */
const passing: ReadonlySet<string> = new Set(["DependencyViolation", "InvalidIPAddress.InUse"]);
const retryMs = 100;
const patienceMs = 60_000;

export class LayoutPlayer {
  readonly #clock: Clock;
  readonly #ec2: EC2Client;
  readonly #iam: IAMClient;
  readonly #ids = new Map<string, string>();

  constructor(cloud: Cloud, clock: Clock) {
    this.#clock = clock;
    this.#ec2 = new EC2Client(sdkConfig(cloud));
    this.#iam = new IAMClient(sdkConfig(cloud));
  }

  /** The id of the resource of an address. */
  id(address: string): string {
    const id = this.#ids.get(address);
    if (id === undefined) throw new Error(`the layout has made no ${address}`);
    return id;
  }

  /** Makes calls one after the other, each when AWS takes it. */
  async play(calls: readonly LayoutCall[], signal: AbortSignal): Promise<void> {
    for (const call of calls) {
      const answer = await this.#insist(call, signal);
      for (const [address, path] of Object.entries(call.gives ?? {})) this.#ids.set(address, valueAt(answer, path));
    }
  }

  async #insist(call: LayoutCall, signal: AbortSignal): Promise<unknown> {
    const until = this.#clock.monotonic() + patienceMs;
    for (;;) {
      try {
        return await this.#send(call);
      } catch (error) {
        if (!passing.has((error as Error).name) || this.#clock.monotonic() >= until)
          throw new Error(`${call.action} of the layout: ${(error as Error).message}`, { cause: error });
        await sleep(this.#clock, retryMs, signal);
      }
    }
  }

  #send({ service, action, input }: LayoutCall): Promise<unknown> {
    const resolved = this.#resolved(input);
    if (service === "iam") return this.#iam.send(new (iamCommands[action] as new (of: unknown) => IamCommand)(resolved));
    return this.#ec2.send(new (ec2Commands[action] as new (of: unknown) => Ec2Command)(resolved));
  }

  #resolved(input: object): unknown {
    return JSON.parse(JSON.stringify(input), (key, value) => {
      if (typeof value !== "string") return value;
      if (key === "PublicKeyMaterial") return Buffer.from(value);
      return value.replace(/^<(.+)>$/, (_, address: string) => this.id(address));
    });
  }
}

function valueAt(answer: unknown, path: string): string {
  const found = path.split(".").reduce<unknown>((value, key) => (value as Readonly<Record<string, unknown>> | undefined)?.[key], answer);
  if (typeof found !== "string") throw new TypeError(`AWS's answer has no ${path}`);
  return found;
}

type Ec2Command = CreateVpcCommand;
type IamCommand = CreateRoleCommand;

const ec2Commands: Readonly<Record<string, unknown>> = {
  AllocateAddress: AllocateAddressCommand,
  AssociateRouteTable: AssociateRouteTableCommand,
  AttachInternetGateway: AttachInternetGatewayCommand,
  AuthorizeSecurityGroupEgress: AuthorizeSecurityGroupEgressCommand,
  AuthorizeSecurityGroupIngress: AuthorizeSecurityGroupIngressCommand,
  CreateInternetGateway: CreateInternetGatewayCommand,
  CreateNatGateway: CreateNatGatewayCommand,
  CreateRoute: CreateRouteCommand,
  CreateRouteTable: CreateRouteTableCommand,
  CreateSecurityGroup: CreateSecurityGroupCommand,
  CreateSubnet: CreateSubnetCommand,
  CreateVpc: CreateVpcCommand,
  DeleteInternetGateway: DeleteInternetGatewayCommand,
  DeleteKeyPair: DeleteKeyPairCommand,
  DeleteNatGateway: DeleteNatGatewayCommand,
  DeleteRoute: DeleteRouteCommand,
  DeleteRouteTable: DeleteRouteTableCommand,
  DeleteSecurityGroup: DeleteSecurityGroupCommand,
  DeleteSubnet: DeleteSubnetCommand,
  DeleteVpc: DeleteVpcCommand,
  DetachInternetGateway: DetachInternetGatewayCommand,
  DisassociateRouteTable: DisassociateRouteTableCommand,
  ImportKeyPair: ImportKeyPairCommand,
  ModifyInstanceAttribute: ModifyInstanceAttributeCommand,
  ModifySubnetAttribute: ModifySubnetAttributeCommand,
  ModifyVpcAttribute: ModifyVpcAttributeCommand,
  ReleaseAddress: ReleaseAddressCommand,
  RevokeSecurityGroupEgress: RevokeSecurityGroupEgressCommand,
  RevokeSecurityGroupIngress: RevokeSecurityGroupIngressCommand,
  RunInstances: RunInstancesCommand,
  TerminateInstances: TerminateInstancesCommand,
};

const iamCommands: Readonly<Record<string, unknown>> = {
  AddRoleToInstanceProfile: AddRoleToInstanceProfileCommand,
  CreateInstanceProfile: CreateInstanceProfileCommand,
  CreateRole: CreateRoleCommand,
  DeleteInstanceProfile: DeleteInstanceProfileCommand,
  DeleteRole: DeleteRoleCommand,
  DeleteRolePolicy: DeleteRolePolicyCommand,
  PutRolePolicy: PutRolePolicyCommand,
  RemoveRoleFromInstanceProfile: RemoveRoleFromInstanceProfileCommand,
};
