export { traceExchange } from './trace-exchange.ts'
export { abortable } from './abortable.ts'
export type { Impersonation } from './impersonation.ts'
export { joinReflectors } from './join-reflectors.ts'
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
  KubeStatusError,
  type StatusCause,
  type StatusFields,
} from './kube-status-error.ts'
export { type KubeConfigOptions, loadKubeConfig, type LoadedCluster } from './load-kube-config.ts'
export { type KubeConfigNames, kubeConfigNames } from './read-kube-config.ts'
export type { ReflectorHandler } from './resource-cache.ts'
export { createReflector, type Lists, type Reflector, type ReflectorOptions } from './reflector.ts'
export { type ResourcePath, resourcePaths } from './resource-path.ts'
export { type Connection, createServerClock, onServerClock, type ServerClock } from './server-clock.ts'
export type { Indexer, Store } from './store.ts'
export { type ClusterAccess, createUndiciExchange, type Credentials, type UndiciExchange } from './undici-exchange.ts'
export type { WatchEvent } from './watch-stream.ts'
