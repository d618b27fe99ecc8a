import { planMemory } from './plan-memory.ts'

/** Limits on requests, connections, memory and streams. */
export interface Limits {
  /**
   * Requests per second from one user, from the service accounts of one namespace, or from one address without a valid token. @default 200
   */
  readonly requestsPerSecond: number
  /** Invalid tokens per second from one address before further unknown tokens have to wait. @default 100 */
  readonly guessesPerSecond: number
  /** Requests from one address that wait for the first review of their token. @default 200 */
  readonly unauthenticatedPerAddress: number
  /** Concurrent connections without a request of an authenticated client. @default 1024 */
  readonly connections: number
  /** Maximum of `connections` from one address. @default 512 */
  readonly connectionsOfAddress: number
  /** Total size of unfinished bodies of all authenticated users, in bytes. @default 67108864 */
  readonly receivedBytes: number
  /** Maximum of `receivedBytes` for one user, or for the service accounts of one namespace, in bytes. @default 8388608 */
  readonly receivedBytesOfUser: number
  /** Size of a body, in bytes. @default 65536 */
  readonly bodyBytes: number
  /** Size of manifests to check, in bytes. @default 1048576 */
  readonly manifestBytes: number
  /** Duration of a request from its first byte to its answer, in milliseconds; `?wait=` comes on top. @default 15000 */
  readonly requestMs: number
  /** Duration of a forecast, in milliseconds, on top of `requestMs`. @default 60000 */
  readonly planMs: number
  /** Number of nodes of a cluster that can be forecast. @default 10000 */
  readonly planNodes: number
  /** Size of the objects of one namespace read for a forecast, in characters of JSON. @default 134217728 */
  readonly planCharacters: number
  /** Memory of a forecast, in MiB. @default the rest of the container's memory limit, at most 1536 */
  readonly planMebibytes: number
  /** Concurrent streams. @default 1000 */
  readonly streams: number
  /** Concurrent streams per user name, or of the service accounts of one namespace. @default 100 */
  readonly streamsOfCaller: number
  /** Time without reading after which a stream client is disconnected, in milliseconds. @default 10000 */
  readonly streamPatienceMs: number
  /** Event loop delay above which requests are refused, in milliseconds of wall clock time. @default 2000 */
  readonly loopLateMs: number
  /** Interval of heartbeats on a stream, in milliseconds. @default 15000 */
  readonly heartbeatMs: number
}

/** Defaults of {@link Limits}. */
export const defaultLimits: Limits = {
  requestsPerSecond: 200,
  guessesPerSecond: 100,
  unauthenticatedPerAddress: 200,
  connections: 1_024,
  connectionsOfAddress: 512,
  receivedBytes: 64 * 1024 * 1024,
  receivedBytesOfUser: 8 * 1024 * 1024,
  bodyBytes: 64 * 1024,
  manifestBytes: 1024 * 1024,
  requestMs: 15_000,
  planMs: 60_000,
  planNodes: 10_000,
  planCharacters: 128 * 1024 * 1024,
  planMebibytes: planMemory(),
  streams: 1_000,
  streamsOfCaller: 100,
  streamPatienceMs: 10_000,
  loopLateMs: 2_000,
  heartbeatMs: 15_000,
}
