export {
  type ApiClient,
  type ApiKey,
  type ApiPage,
  createApiClient,
  type DaemonSetRollback,
  type ActionCall,
  loadSchemas,
} from './api-client.ts'
export { ApiProblemError } from './api-problem-error.ts'
export type { FetchInit, FetchLike, FetchResponse } from './fetch-like.ts'
export type { StreamOptions, StreamPosition } from './read-stream.ts'
export type { ApiCallOptions, RestConnection } from './send.ts'
