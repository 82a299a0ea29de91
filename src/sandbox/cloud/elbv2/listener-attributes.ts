/** The attributes of listeners: https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_ListenerAttribute.html */
import { type AttributeTable, between, flag, oneOf } from "./attribute-tables.ts";
import type { Listener } from "./state.ts";

/** By protocol; those that are not here have none. */
export function listenerAttributes({ protocol }: Pick<Listener, "protocol">): AttributeTable<Listener> {
  switch (protocol) {
    case "TCP":
      return TCP_ATTRIBUTES;
    case "HTTP":
      return RESPONSE_ATTRIBUTES;
    case "HTTPS":
      return [...REQUEST_ATTRIBUTES, ...RESPONSE_ATTRIBUTES];
    default:
      return [];
  }
}

/** Only TCP listeners have one: https://docs.aws.amazon.com/elasticloadbalancing/latest/network/update-idle-timeout.html */
const TCP_ATTRIBUTES: AttributeTable<Listener> = [{ key: "tcp.idle_timeout.seconds", fallback: "350", takes: between(60, 6000) }];

const isHeaderName = (value: string): boolean => /^[\w-]{0,40}$/.test(value);
const isHeaderValue = (value: string): boolean => value.length <= 1024;

/** Headers that tell a target of the client's certificate and connection, under names of their own. */
const REQUEST_ATTRIBUTES: AttributeTable<Listener> = [
  "X-Amzn-Mtls-Clientcert-Serial-Number",
  "X-Amzn-Mtls-Clientcert-Issuer",
  "X-Amzn-Mtls-Clientcert-Subject",
  "X-Amzn-Mtls-Clientcert-Validity",
  "X-Amzn-Mtls-Clientcert-Leaf",
  "X-Amzn-Mtls-Clientcert",
  "X-Amzn-Tls-Version",
  "X-Amzn-Tls-Cipher-Suite",
].map((header) => ({
  key: `routing.http.request.${header.toLowerCase().replaceAll("-", "_")}.header_name`,
  fallback: header,
  takes: isHeaderName,
}));

/** Headers of answers that a listener sets, by the part of the key that names them. */
export const RESPONSE_HEADERS: Readonly<Record<string, string>> = {
  strict_transport_security: "Strict-Transport-Security",
  access_control_allow_origin: "Access-Control-Allow-Origin",
  access_control_allow_methods: "Access-Control-Allow-Methods",
  access_control_allow_headers: "Access-Control-Allow-Headers",
  access_control_allow_credentials: "Access-Control-Allow-Credentials",
  access_control_expose_headers: "Access-Control-Expose-Headers",
  access_control_max_age: "Access-Control-Max-Age",
  content_security_policy: "Content-Security-Policy",
  x_content_type_options: "X-Content-Type-Options",
  x_frame_options: "X-Frame-Options",
};

const STRICTER: Readonly<Record<string, (value: string) => boolean>> = {
  access_control_allow_credentials: oneOf("", "true"),
  access_control_max_age: (value) => value === "" || between(0, 86_400)(value),
  x_content_type_options: oneOf("", "nosniff"),
  x_frame_options: (value) => value === "" || value === "DENY" || value === "SAMEORIGIN" || value.startsWith("ALLOW-FROM "),
};

const RESPONSE_ATTRIBUTES: AttributeTable<Listener> = [
  { key: "routing.http.response.server.enabled", fallback: "true", takes: flag },
  ...Object.keys(RESPONSE_HEADERS).map((name) => ({
    key: `routing.http.response.${name}.header_value`,
    fallback: "",
    takes: STRICTER[name] ?? isHeaderValue,
  })),
];
