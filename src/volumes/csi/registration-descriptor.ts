/** The service by which kubelet learns of a plugin: package `pluginregistration`, version 1. */
export const registrationDescriptor = {
  nested: {
    pluginregistration: {
      nested: {
        Registration: {
          methods: {
            GetInfo: { requestType: "InfoRequest", responseType: "PluginInfo" },
            NotifyRegistrationStatus: { requestType: "RegistrationStatus", responseType: "RegistrationStatusResponse" },
          },
        },
        PluginInfo: {
          fields: {
            type: { type: "string", id: 1 },
            name: { type: "string", id: 2 },
            endpoint: { type: "string", id: 3 },
            supportedVersions: { rule: "repeated", type: "string", id: 4 },
          },
        },
        RegistrationStatus: { fields: { pluginRegistered: { type: "bool", id: 1 }, error: { type: "string", id: 2 } } },
        RegistrationStatusResponse: { fields: {} },
        InfoRequest: { fields: {} },
      },
    },
  },
};
