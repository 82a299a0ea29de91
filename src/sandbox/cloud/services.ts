import type { Account } from "./account.ts";
import { acmService } from "./acm/service.ts";
import { autoScalingService } from "./autoscaling/service.ts";
import { ec2Service } from "./ec2/service.ts";
import { ecrPublicService, ecrService } from "./ecr/services.ts";
import { elbService } from "./elb/service.ts";
import { elbv2Service } from "./elbv2/service.ts";
import { eventsService } from "./events/service.ts";
import { iamService } from "./iam/service.ts";
import { route53Service } from "./route53/service.ts";
import type { Service } from "./service.ts";
import { shieldService } from "./shield/service.ts";
import { sqsService } from "./sqs/service.ts";
import { stsService } from "./sts/service.ts";
import { taggingService } from "./tagging/service.ts";
import { wafRegionalService } from "./waf/waf-regional.ts";
import { wafv2Service } from "./waf/wafv2.ts";

/** Every service the cloud offers. A new one is a folder and a line here. */
export function servicesOf(account: Account): readonly Service[] {
  return [
    ec2Service(account),
    elbService(account),
    elbv2Service(account),
    stsService(account),
    iamService(account),
    ecrService(account),
    ecrPublicService(account),
    sqsService(account),
    autoScalingService(account),
    eventsService(account),
    acmService(account),
    route53Service(account),
    wafv2Service(account),
    wafRegionalService(account),
    shieldService(account),
    taggingService(account),
  ];
}
