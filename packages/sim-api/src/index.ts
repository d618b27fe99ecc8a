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
