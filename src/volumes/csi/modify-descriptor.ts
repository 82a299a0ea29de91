/** The service `modify.v1` that the volumemodifier sidecar calls: an older way to ControllerModifyVolume. */
const map = (id: number) => ({ keyType: "string", type: "string", id });

export const modifyDescriptor = {
  nested: {
    modify: {
      nested: {
        v1: {
          nested: {
            Modify: {
              methods: {
                ModifyVolumeProperties: { requestType: "ModifyVolumePropertiesRequest", responseType: "ModifyVolumePropertiesResponse" },
                GetCSIDriverModificationCapability: {
                  requestType: "GetCSIDriverModificationCapabilityRequest",
                  responseType: "GetCSIDriverModificationCapabilityResponse",
                },
              },
            },
            ModifyVolumePropertiesRequest: { fields: { name: { type: "string", id: 1 }, parameters: map(2), context: map(3) } },
            ModifyVolumePropertiesResponse: { fields: {} },
            GetCSIDriverModificationCapabilityRequest: { fields: {} },
            GetCSIDriverModificationCapabilityResponse: { fields: {} },
          },
        },
      },
    },
  },
};
