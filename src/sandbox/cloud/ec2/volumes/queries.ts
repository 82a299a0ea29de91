/** DescribeVolumes and DescribeVolumeStatus. */
import {
  DescribeVolumeStatus$,
  type DescribeVolumeStatusRequest,
  type DescribeVolumeStatusResult,
  DescribeVolumes$,
  type DescribeVolumesRequest,
  type DescribeVolumesResult,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../../errors.ts";
import { type Operations, read } from "../../service.ts";
import type { Table } from "../../store.ts";
import { type FilterTable, filtered } from "../filters.ts";
import { findAll, KINDS, type Kind } from "../kinds.ts";
import { page } from "../pages.ts";
import type { Ec2 } from "../state.ts";
import { describeVolume, describeVolumeStatus, volumeFilters } from "./answers.ts";
import type { Volume } from "./state.ts";

/** The most results on a page, and ids in a request. */
const MAX_VOLUMES = 500;
const MAX_STATUSES = 1000;

/** The questions about volumes. */
export function volumeQueryOperations(ec2: Ec2): Operations {
  return [
    read<DescribeVolumesRequest, DescribeVolumesResult>(DescribeVolumes$, (input) => {
      const asked = recordsAsked(ec2.volumes, KINDS.volume, input.VolumeIds, input.MaxResults, MAX_VOLUMES);
      const { items, NextToken } = page(ec2, filtered(asked, input.Filters, volumeFilters()), ({ id }) => id, atMost(input, MAX_VOLUMES), {
        action: "DescribeVolumes",
        min: 5,
        max: MAX_VOLUMES,
      });
      return { Volumes: items.map((volume) => describeVolume(ec2, volume)), NextToken };
    }),
    read<DescribeVolumeStatusRequest, DescribeVolumeStatusResult>(DescribeVolumeStatus$, (input) => {
      const asked = recordsAsked(ec2.volumes, KINDS.volume, input.VolumeIds, input.MaxResults, MAX_STATUSES);
      const { items, NextToken } = page(
        ec2,
        filtered(asked, input.Filters, statusFilters(ec2)),
        ({ id }) => id,
        atMost(input, MAX_STATUSES),
        {
          action: "DescribeVolumeStatus",
          min: 5,
          max: MAX_STATUSES,
        },
      );
      return { VolumeStatuses: items.map((volume) => describeVolumeStatus(ec2, volume)), NextToken };
    }),
  ];
}

/** The records of the ids in a request, or all; EC2 takes no page size beside ids, and so many ids at most. */
export function recordsAsked<T extends object>(
  table: Table<T>,
  kind: Kind,
  ids: readonly string[] | undefined,
  maxResults: number | undefined,
  maxIds: number,
): readonly T[] {
  if (!ids?.length) return table.values();
  if (maxResults !== undefined) {
    throw new ServiceError("InvalidParameterCombination", `The parameter ${kind.type}Id cannot be used with the parameter maxResults`);
  }
  if (ids.length > maxIds) {
    throw new ServiceError(
      "InvalidParameterValue",
      `The maximum number of ${kind.type} IDs in a request is ${maxIds}; you gave ${ids.length}.`,
    );
  }
  return findAll(table, kind, ids);
}

/** A page larger than EC2 gives is cut to what it gives, without complaint. */
export function atMost<T extends { readonly MaxResults?: number | undefined }>(input: T, max: number): T {
  return input.MaxResults !== undefined && input.MaxResults > max ? { ...input, MaxResults: max } : input;
}

function statusFilters(ec2: Ec2): FilterTable<Volume> {
  const status = (volume: Volume) => describeVolumeStatus(ec2, volume).VolumeStatus;
  return {
    "availability-zone": (volume) => volume.zone,
    "availability-zone-id": (volume) => volume.zoneId,
    "volume-status.status": (volume) => status(volume)?.Status,
    "volume-status.details-name": (volume) => status(volume)?.Details?.map((detail) => detail.Name),
    "volume-status.details-status": (volume) => status(volume)?.Details?.map((detail) => detail.Status),
    "volume-id": (volume) => volume.id,
  };
}
