/** The actions of AWS Certificate Manager. */
import { actionsOf } from "./actions.ts";

const acm = actionsOf("acm", () => import("./sdk/acm.ts"));

export const listCertificates = acm("ListCertificates", (sdk) => sdk.ListCertificatesCommand);
export const describeCertificate = acm("DescribeCertificate", (sdk) => sdk.DescribeCertificateCommand);
export const listTagsForCertificate = acm("ListTagsForCertificate", (sdk) => sdk.ListTagsForCertificateCommand);
export const requestCertificate = acm("RequestCertificate", (sdk) => sdk.RequestCertificateCommand);
export const deleteCertificate = acm("DeleteCertificate", (sdk) => sdk.DeleteCertificateCommand);
