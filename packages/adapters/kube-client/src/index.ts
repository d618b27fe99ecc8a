export { traceExchange } from './exchange/trace-exchange.ts'
export { abortable } from './exchange/abortable.ts'
export type { Impersonation } from './credentials/impersonation.ts'
export { joinReflectors } from './cache/join-reflectors.ts'
export {
  addOp,
  jsonPointer,
  type JsonPatchOperation,
  removeOp,
  replaceOp,
  testOp,
  testResourceVersion,
  testUid,
} from './json-patch.ts'
export {
  type CallOptions,
  createKubeClient,
  type DeleteOptions,
  type KubeClient,
  type KubeClientOptions,
  type KubeList,
  type KubePatch,
  type ListOptions,
  type Scope,
  type WatchOptions,
  type Writable,
  type WriteOptions,
} from './kube-client.ts'
export {
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isBadRequest,
  isInvalid,
  isNotFound,
  isUnauthorized,
  KubeStatusError,
  type StatusCause,
  type StatusFields,
} from './exchange/kube-status-error.ts'
export { type KubeConfigOptions, loadKubeConfig, type LoadedCluster } from './credentials/load-kube-config.ts'
export { type KubeConfigNames, kubeConfigNames } from './credentials/read-kube-config.ts'
export type { ReflectorHandler } from './cache/resource-cache.ts'
export { createReflector, type Lists, type Reflector, type ReflectorOptions } from './cache/reflector.ts'
export { type ResourcePath, resourcePaths } from './resource-path.ts'
export { type Connection, createServerClock, onServerClock, type ServerClock } from './exchange/server-clock.ts'
export type { Indexer, Store } from './cache/store.ts'
export { type ClusterAccess, createUndiciExchange, type Credentials, type UndiciExchange } from './exchange/undici-exchange.ts'
export type { WatchEvent } from './watch-stream.ts'
