export {
  type Actor,
  type ApiMeta,
  type ApiObject,
  type ApiOwner,
  type DeleteOptions,
  type DiscoveredResource,
  type ResourceId,
  resources,
  type Scope,
  type SimClient,
  type Watching,
  type WatchEvent,
} from './model/client.ts'
export { timestamp } from './model/timestamp.ts'
export { isTerminal } from './model/is-terminal.ts'
export { ApiStatusError, type ApiStatus, isStatus, type StatusCause } from './model/status-error.ts'
export { createCustomResourceSchema, type CustomResourceSchema } from './schema/custom-resource-schema.ts'
export { type Decoded, decodeBuiltin } from './schema/decode.ts'
export type { JsonObject } from './model/json.ts'
export { schemaSource } from './schema/schema-source.ts'
export type { AccessControl } from './auth/access.ts'
export type { Attributes, Decision, PathAttributes, ResourceAttributes } from './auth/attributes.ts'
export type { Authorizer, GrantedRules } from './auth/authorizer.ts'
export type { PolicyRule } from './auth/policy-rules.ts'
export type { ReadObject, ServiceAccountTokens, TokenGrant } from './auth/service-account-tokens.ts'
export type { ManagedFieldsIn } from './http/answer-shape.ts'
export { createHttpFront, type FrontApiServer, type HttpFront, type HttpFrontOptions } from './http/front.ts'
export { type HttpsServer, listen, type ListenOptions } from './http/https-server.ts'
export { inProcessExchange } from './http/in-process-exchange.ts'
export type { WebhookOptions } from './admission/webhook-client.ts'
export type { WebhookTarget } from './admission/webhook-configuration.ts'
export type { Admission, AdmissionAnswer, AdmissionReview } from './admission/admission.ts'
export type { FaultCall, FaultEvent, FaultInjector, RequestFault, WatchFault } from './faults/faults.ts'
export {
  type ApiList,
  type ApiRequest,
  type ApiResult,
  ConnectionCutError,
  type FieldValidation,
  type PatchType,
  type RequestOptions,
  type Verb,
  type WatchBookmark,
  type WatchFrame,
  type WatchRequest,
  type WatchSink,
} from './model/request.ts'
export type { ObjectSchema, ResourceDefinition, SchemaSource, Strategy } from './model/resource-definition.ts'
export { type AcceptedWrite, type ApiServer, type ApiServerOptions, createApiServer, type Delivery } from './server.ts'
export { type NanoAmounts, podAmounts, readAmounts } from './quota/pod-resources.ts'
export { isInScope, resourcesFor, usageOf } from './quota/usage.ts'
export type { DelayRange } from './watch/watch-hub.ts'
export { createSeededFaults, type SeededFaultsOptions } from './faults/seeded-faults.ts'
export { createRandom, type Random } from './model/random.ts'
