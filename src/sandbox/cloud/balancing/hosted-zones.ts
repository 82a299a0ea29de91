/** Route 53 zones of load balancers' DNS names: https://docs.aws.amazon.com/general/latest/gr/elb.html */

interface Zones {
  /** Classic and application load balancers. */
  readonly regional: string;
  readonly network: string;
}

const ZONES: Readonly<Record<string, Zones>> = {
  "us-east-1": { regional: "Z35SXDOTRQ7X7K", network: "Z26RNL4JYFTOTI" },
  "us-east-2": { regional: "Z3AADJGX6KTTL2", network: "ZLMOA37VPKANP" },
  "us-west-1": { regional: "Z368ELLRRE2KJ0", network: "Z24FKFUX50B4VW" },
  "us-west-2": { regional: "Z1H1FL5HABSF5", network: "Z18D5FSROUN65G" },
  "af-south-1": { regional: "Z268VQBMOI5EKX", network: "Z203XCE67M25HM" },
  "ap-east-1": { regional: "Z3DQVH9N71FHZ0", network: "Z12Y7K3UBGUAD1" },
  "ap-northeast-1": { regional: "Z14GRHDCWA56QT", network: "Z31USIVHYNEOWT" },
  "ap-northeast-2": { regional: "ZWKZPGTI48KDX", network: "ZIBE1TIR4HY56" },
  "ap-northeast-3": { regional: "Z5LXEXXYW11ES", network: "Z1GWIQ4HH19I5X" },
  "ap-south-1": { regional: "ZP97RAFLXTNZK", network: "ZVDDRBQ08TROA" },
  "ap-southeast-1": { regional: "Z1LMS91P8CMLE5", network: "ZKVM4W9LS7TM" },
  "ap-southeast-2": { regional: "Z1GM3OXH4ZPM65", network: "ZCT6FZBF4DROD" },
  "ap-southeast-3": { regional: "Z08888821HLRG5A9ZRTER", network: "Z01971771FYVNCOVWJU1G" },
  "ca-central-1": { regional: "ZQSVJUPU6J1EY", network: "Z2EPGBW3API2WT" },
  "cn-north-1": { regional: "Z1GDH35T77C1KE", network: "Z3QFB96KMJ7ED6" },
  "cn-northwest-1": { regional: "ZM7IZAIOVVDZF", network: "ZQEIKTCZ8352D" },
  "eu-central-1": { regional: "Z215JYRZR1TBD5", network: "Z3F0SRJ5LGBH90" },
  "eu-central-2": { regional: "Z06391101F2ZOEP8P5EB3", network: "Z02239872DOALSIDCX66S" },
  "eu-north-1": { regional: "Z23TAZ6LKFMNIO", network: "Z1UDT6IFJ4EJM" },
  "eu-south-1": { regional: "Z3ULH7SSC9OV64", network: "Z23146JA1KNAFP" },
  "eu-south-2": { regional: "Z0956581394HF5D5LXGAP", network: "Z1011216NVTVYADP1SSV" },
  "eu-west-1": { regional: "Z32O12XQLNTSW2", network: "Z2IFOLAFXWLO4F" },
  "eu-west-2": { regional: "ZHURV8PSTC4K8", network: "ZD4D7Y8KGAS4G" },
  "eu-west-3": { regional: "Z3Q77PNBQS71R4", network: "Z1CMS0P5QUZ6D5" },
  "me-central-1": { regional: "Z08230872XQRWHG2XF6I", network: "Z00282643NTTLPANJJG2P" },
  "me-south-1": { regional: "ZS929ML54UICD", network: "Z3QSRYVP46NYYV" },
  "sa-east-1": { regional: "Z2P70J7HTTTPLU", network: "ZTK26PT1VY4CU" },
  "us-gov-east-1": { regional: "Z166TLBEWOO7G0", network: "Z1ZSMQQ6Q24QQ8" },
  "us-gov-west-1": { regional: "Z33AYJ8TM3BH4J", network: "ZMG1MZ2THAWF1" },
};

/** The zone of a kind of load balancer in a region; a region AWS opened later gets one of the same shape. */
export function hostedZoneId(region: string, kind: keyof Zones): string {
  return ZONES[region]?.[kind] ?? `Z${Buffer.from(`${kind}${region}`).toString("hex").toUpperCase().slice(0, 20)}`;
}
