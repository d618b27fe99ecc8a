export {
  type Actor,
  type ApiMeta,
  type ApiObject,
  type ApiOwner,
  type DeleteOptions,
  type ResourceId,
  resources,
  type Scope,
  type SimClient,
  type Watching,
  type WatchEvent,
} from './client.ts'
export { ApiStatusError, type ApiStatus, isStatus, type StatusCause } from './status-error.ts'
export { type BuiltinKind, builtinKinds } from './schema/builtin-definitions.ts'
export { createCustomResourceSchema, type CustomResourceSchema } from './schema/custom-resource-schema.ts'
export { type Decoded, decodeBuiltin } from './schema/decode.ts'
export type { JsonRecord } from './schema/json-schema.ts'
export { schemaSource } from './schema/schema-source.ts'
export { createHttpFront, type FrontApiServer, type HttpFront, type HttpFrontOptions } from './http/front.ts'
export { type HttpsServer, listen, type ListenOptions } from './http/https-server.ts'
export { inProcessExchange } from './http/in-process-exchange.ts'
export {
  type ApiList,
  type ApiRequest,
  type ApiResult,
  ConnectionCutError,
  type WatchFrame,
  type WatchRequest,
  type WatchSink,
} from './core/request.ts'
export type { ResourceDefinition } from './core/resource-definition.ts'
