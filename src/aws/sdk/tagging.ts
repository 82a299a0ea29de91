/** What is used of the client of the Resource Groups Tagging API. */
export { GetResourcesCommand, ResourceGroupsTaggingAPIClient as Client } from "@aws-sdk/client-resource-groups-tagging-api";
