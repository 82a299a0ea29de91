/** Exchanges about what sets kinds apart: Nodes, Services, Leases, Ingresses, subresources. */
import { type Exchange, type Fields, versionOf } from "./talk.ts";

const service = (name: string, spec: Fields): Fields => ({ apiVersion: "v1", kind: "Service", metadata: { name }, spec });
const leases = "coordination.k8s.io/v1";

export const kindExchanges: readonly Exchange[] = [
  {
    name: "a new Node is tainted as not ready, and its pod CIDRs agree",
    async run(talk) {
      const path = `/api/v1/nodes/${talk.namespace}`;
      await talk.post("/api/v1/nodes", {
        metadata: { name: talk.namespace },
        spec: { podCIDR: "10.1.0.0/24", taints: [{ key: "k", effect: "NoSchedule" }] },
      });
      await talk.patch("merge", path, { spec: { podCIDR: "10.3.0.0/24", podCIDRs: ["10.3.0.0/24"] } }, 422);
      await talk.delete(path);
    },
  },
  {
    name: "the provider ID of a Node is set once",
    async run(talk) {
      const path = `/api/v1/nodes/${talk.namespace}`;
      await talk.post("/api/v1/nodes", { metadata: { name: talk.namespace } });
      await talk.patch("merge", path, { spec: { providerID: "aws:///us-east-1a/i-1" } });
      await talk.patch("merge", path, { spec: { providerID: "aws:///us-east-1a/i-2" } }, 422);
      await talk.delete(path);
    },
  },
  {
    name: "taints are checked",
    async run(talk) {
      const path = `/api/v1/nodes/${talk.namespace}`;
      await talk.post("/api/v1/nodes", { metadata: { name: talk.namespace } });
      await talk.patch("merge", path, { spec: { taints: [{ key: "a", effect: "Bogus" }] } }, 422);
      const twice: Fields[] = [
        { key: "a", effect: "NoSchedule" },
        { key: "a", effect: "NoSchedule", value: "x" },
      ];
      await talk.patch("merge", path, { spec: { taints: twice } }, 422);
      await talk.delete(path);
    },
  },
  {
    name: "a Node's spec and status do not touch each other",
    async run(talk) {
      const path = `/api/v1/nodes/${talk.namespace}`;
      await talk.post("/api/v1/nodes", { metadata: { name: talk.namespace } });
      await talk.patch("merge", path, { spec: { unschedulable: true }, status: { addresses: [{ type: "Hostname", address: "no" }] } });
      await talk.patch("merge", `${path}/status`, {
        metadata: { labels: { through: "status" } },
        spec: { unschedulable: false },
        status: { addresses: [{ type: "Hostname", address: "yes" }] },
      });
      await talk.get(`${path}/status`);
      await talk.delete(path);
    },
  },
  {
    name: "a Service of type ClusterIP gets its defaults and an address",
    async run(talk) {
      await talk.post(
        talk.in("services"),
        service("s", {
          selector: { a: "b" },
          ports: [
            { name: "a", port: 80 },
            { name: "b", port: 81, targetPort: "web" },
          ],
        }),
      );
    },
  },
  {
    name: "a Service of type LoadBalancer gets node ports, with policy Local a health check port too",
    async run(talk) {
      await talk.post(talk.in("services"), service("a", { type: "LoadBalancer", ports: [{ port: 80 }] }));
      await talk.post(talk.in("services"), service("b", { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: [{ port: 80 }] }));
      await talk.post(
        talk.in("services"),
        service("c", {
          type: "LoadBalancer",
          allocateLoadBalancerNodePorts: false,
          loadBalancerClass: "e.com/x",
          sessionAffinity: "ClientIP",
          ports: [{ port: 80 }],
        }),
      );
    },
  },
  {
    name: "headless and external Services have no address",
    async run(talk) {
      await talk.post(talk.in("services"), service("a", { clusterIP: "None", ports: [{ port: 80 }] }));
      await talk.post(talk.in("services"), service("b", { clusterIP: "None", selector: { a: "b" }, ports: [{ port: 80 }] }));
      await talk.post(talk.in("services"), service("c", { type: "ExternalName", externalName: "a.example" }));
      await talk.post(talk.in("services"), service("d", { type: "ExternalName" }), 422);
    },
  },
  {
    name: "a Service changes its type: ports come and go, the status of the load balancer is dropped",
    async run(talk) {
      const path = `${talk.in("services")}/s`;
      await talk.post(talk.in("services"), service("s", { ports: [{ port: 80 }] }));
      await talk.patch("merge", path, { spec: { type: "NodePort" } });
      await talk.patch("merge", path, { spec: { type: "LoadBalancer", externalTrafficPolicy: "Local" } });
      await talk.patch("merge", `${path}/status`, { status: { loadBalancer: { ingress: [{ hostname: "lb.example" }] } } });
      await talk.patch("merge", path, { spec: { externalTrafficPolicy: "Cluster" } });
      await talk.patch("merge", path, { spec: { type: "ClusterIP" } });
    },
  },
  {
    name: "a replace of a Service keeps what the server gave out",
    async run(talk) {
      const spec = { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: [{ port: 80 }] };
      await talk.post(talk.in("services"), service("s", spec));
      await talk.put(
        `${talk.in("services")}/s`,
        service("s", {
          ...spec,
          ports: [
            { name: "a", port: 80 },
            { name: "b", port: 443 },
          ],
        }),
      );
    },
  },
  {
    name: "what cannot change in a Service",
    async run(talk) {
      const path = `${talk.in("services")}/s`;
      await talk.post(talk.in("services"), service("s", { type: "LoadBalancer", loadBalancerClass: "e.com/x", ports: [{ port: 80 }] }));
      await talk.patch("merge", path, { spec: { loadBalancerClass: "e.com/y" } }, 422);
    },
  },
  {
    name: "what a Service may not be",
    async run(talk) {
      const path = talk.in("services");
      await talk.post(path, service("s", { ports: [{ port: 80 }, { port: 81 }] }), 422);
      await talk.post(path, service("s", { type: "Bogus", ports: [] }), 422);
      await talk.post(path, service("s", { ports: [{ port: 80000, protocol: "X" }] }), 422);
      await talk.post(
        path,
        service("s", {
          ports: [
            { name: "a", port: 80 },
            { name: "a", port: 81 },
          ],
        }),
        422,
      );
      await talk.post(path, service("s", { externalTrafficPolicy: "Local", ports: [{ port: 80 }] }), 422);
      await talk.post(path, service("s", { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] }), 422);
    },
  },
  {
    name: "a Service's status is written through its own path, with metadata",
    async run(talk) {
      const path = `${talk.in("services")}/s`;
      await talk.post(talk.in("services"), {
        ...service("s", { type: "LoadBalancer", ports: [{ port: 80 }] }),
        status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } },
      });
      await talk.patch("strategic", `${path}/status`, {
        metadata: { labels: { x: "y" } },
        spec: { type: "ClusterIP" },
        status: { loadBalancer: { ingress: [{ hostname: "lb.example" }] } },
      });
      await talk.patch("merge", path, { status: { loadBalancer: { ingress: null } } });
    },
  },
  {
    name: "a Service's address is a host name without capitals, or an IP address with a mode",
    async run(talk) {
      const path = `${talk.in("services")}/s`;
      await talk.post(talk.in("services"), service("s", { type: "LoadBalancer", ports: [{ port: 80 }] }));
      const publish = (address: Fields, status?: number) =>
        talk.patch("merge", `${path}/status`, { status: { loadBalancer: { ingress: [address] } } }, status);
      await publish({ hostname: "Shop-1.elb.example" }, 422);
      await publish({ ip: "0.0.0.0", hostname: "none" });
    },
  },
  {
    name: "a Lease is taken, renewed, and lost to a faster hand",
    async run(talk) {
      const path = `${talk.in("leases", leases)}/l`;
      const lease = (holder: string, resourceVersion?: string): Fields => ({
        apiVersion: leases,
        kind: "Lease",
        metadata: { name: "l", ...(resourceVersion === undefined ? {} : { resourceVersion }) },
        spec: { holderIdentity: holder, leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:00.000000Z", leaseTransitions: 0 },
      });
      const created = await talk.post(talk.in("leases", leases), lease("a"));
      await talk.put(path, lease("b", versionOf(created)));
      await talk.put(path, lease("c", versionOf(created)), 409);
      await talk.put(path, lease("c"), 422);
    },
  },
  {
    name: "a Lease that is not there is made by a replace",
    async run(talk) {
      await talk.put(
        `${talk.in("leases", leases)}/new`,
        { apiVersion: leases, kind: "Lease", metadata: { name: "new" }, spec: { holderIdentity: "a" } },
        201,
      );
    },
  },
  {
    name: "what a Lease may not hold",
    async run(talk) {
      await talk.post(
        talk.in("leases", leases),
        { apiVersion: leases, kind: "Lease", metadata: { name: "l" }, spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
        422,
      );
    },
  },
  {
    name: "an Ingress counts changes of its spec, not of its status or labels",
    async run(talk) {
      const path = talk.in("ingresses", "networking.k8s.io/v1");
      const backend = (number: number): Fields => ({ defaultBackend: { service: { name: "s", port: { number } } } });
      await talk.post(path, { metadata: { name: "i" }, spec: backend(80) });
      await talk.patch("merge", `${path}/i`, { spec: backend(81) });
      await talk.patch("merge", `${path}/i`, { metadata: { labels: { l: "1" } } });
      await talk.patch("merge", `${path}/i/status`, { status: { loadBalancer: { ingress: [{ hostname: "lb.example" }] } } });
      await talk.post(path, { metadata: { name: "empty" }, spec: {} }, 422);
    },
  },
  {
    name: "an Event shows its empty fields",
    async run(talk) {
      const about = { kind: "ConfigMap", name: "a", namespace: talk.namespace };
      await talk.post(talk.in("events"), {
        metadata: { name: "e" },
        involvedObject: about,
        reason: "R",
        message: "m",
        type: "Normal",
        count: 1,
      });
      await talk.patch("strategic", `${talk.in("events")}/e`, { count: 2, message: "m2" });
      await talk.post(talk.in("events"), { metadata: { name: "f" }, involvedObject: { ...about, namespace: "other" }, reason: "R" }, 422);
    },
  },
  {
    name: "a Pod gets its defaults",
    async run(talk) {
      await talk.post(talk.in("pods"), { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i:1" }], nodeName: "n1" } });
      await talk.patch("strategic", `${talk.in("pods")}/p/status`, {
        status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
      });
      await talk.post(talk.in("pods"), { metadata: { name: "q" }, spec: { containers: [] } }, 422);
    },
  },
  {
    name: "an EndpointSlice keeps its address type",
    async run(talk) {
      const path = talk.in("endpointslices", "discovery.k8s.io/v1");
      await talk.post(path, {
        metadata: { name: "e" },
        addressType: "IPv4",
        endpoints: [{ addresses: ["10.0.0.1"] }],
        ports: [{ name: "http", port: 80 }],
      });
      await talk.patch("merge", `${path}/e`, { endpoints: [{ addresses: ["10.0.0.2"] }] });
      await talk.patch("merge", `${path}/e`, { addressType: "IPv6", endpoints: [] }, 422);
    },
  },
  {
    name: "a token is issued for a service account, and reviewed as its holder",
    async run(talk) {
      await talk.post(talk.in("serviceaccounts"), { metadata: { name: "sa" } });
      await talk.post(`${talk.in("serviceaccounts")}/sa/token`, {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: { audiences: ["fairlead.example"], expirationSeconds: 3600 },
      });
      await talk.post(
        `${talk.in("serviceaccounts")}/none/token`,
        { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
        404,
      );
      await talk.post("/apis/authentication.k8s.io/v1/tokenreviews", {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        spec: { token: "nobody" },
      });
    },
  },
  {
    name: "access is reviewed by the roles that are bound",
    async run(talk) {
      const user = `user-of-${talk.namespace}`;
      const review = (path: string, verb: string) =>
        talk.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
          apiVersion: "authorization.k8s.io/v1",
          kind: "SubjectAccessReview",
          spec: { user, nonResourceAttributes: { path, verb } },
        });
      const allowed = async (path: string, verb: string) => {
        const { body } = await review(path, verb);
        // The real API names the binding; that is prose.
        delete (body.status as Fields).reason;
      };
      await allowed("/metrics", "get");
      await talk.post("/apis/rbac.authorization.k8s.io/v1/clusterroles", {
        metadata: { name: user },
        rules: [{ nonResourceURLs: ["/metrics", "/debug/*"], verbs: ["get"] }],
      });
      await talk.post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
        metadata: { name: user },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: user },
        subjects: [{ kind: "User", name: user }],
      });
      await talk.until(`/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${user}`, ({ status }) => status === 200);
    },
  },
];
