/**
 * How to handle an error. The remedy decides whether a reconciler requeues, the class of the HTTP status of the API, and the exit code of
 * the command line.
 */
export type Remedy = 'retry' | 'fixInput' | 'giveUp'

interface CatalogEntry {
  readonly remedy: Remedy
  readonly httpStatus: number
  /** One sentence, also in docs/reference/error-codes.md. The message of a thrown error adds names and numbers. */
  readonly summary: string
}

/** Every error that a user or operator can get. A test compares this table with docs/reference/error-codes.md. */
export const errorCatalog = {
  WORKLOAD_NOT_FOUND: { remedy: 'retry', httpStatus: 404, summary: 'The DaemonSet named by spec.workloadRef does not exist.' },
  BATCH_SIZE_INVALID: {
    remedy: 'fixInput',
    httpStatus: 422,
    summary: 'A step is neither a whole number of nodes from 1 nor a percentage from 1% to 100%.',
  },
  API_UNREACHABLE: { remedy: 'retry', httpStatus: 503, summary: 'The API server did not answer.' },
  API_REFUSED: { remedy: 'retry', httpStatus: 502, summary: 'The API server answered with an error that is not a conflict.' },
  API_DEADLINE: { remedy: 'retry', httpStatus: 504, summary: 'The API server did not answer before the deadline of the call.' },
  WRITE_CONFLICT: { remedy: 'retry', httpStatus: 409, summary: 'The object changed between the read and the write.' },
  KUBECONFIG_INVALID: { remedy: 'fixInput', httpStatus: 400, summary: 'The kubeconfig cannot be read or names no usable cluster.' },
  CREDENTIALS_UNAVAILABLE: { remedy: 'retry', httpStatus: 503, summary: 'The API server credentials are currently unavailable.' },
  OPTION_INVALID: { remedy: 'fixInput', httpStatus: 400, summary: 'A command line has an invalid option, value or argument.' },
  PORT_IN_USE: { remedy: 'fixInput', httpStatus: 400, summary: 'Another program listens on the requested port.' },
  FILE_UNWRITABLE: { remedy: 'fixInput', httpStatus: 400, summary: 'An output file cannot be written.' },
  FILE_UNREADABLE: { remedy: 'fixInput', httpStatus: 400, summary: 'An input file cannot be read.' },
  FAULTS_INVALID: {
    remedy: 'fixInput',
    httpStatus: 422,
    summary: 'A faults document for the simulator is unreadable or invalid.',
  },
  TOKEN_INVALID: {
    remedy: 'fixInput',
    httpStatus: 401,
    summary: 'A request has no bearer token, or an invalid one.',
  },
  REQUEST_INVALID: {
    remedy: 'fixInput',
    httpStatus: 400,
    summary: 'A request has a path, method, content type or size that the server does not accept.',
  },
  ACCESS_DENIED: { remedy: 'fixInput', httpStatus: 403, summary: 'The caller is not allowed to do what the request asks for.' },
  REVIEW_UNAVAILABLE: {
    remedy: 'retry',
    httpStatus: 503,
    summary: 'The API server could not be asked to authenticate or authorize a request.',
  },
  NOT_FOUND: { remedy: 'fixInput', httpStatus: 404, summary: 'A request names an object, or a path, that does not exist.' },
  BODY_TOO_LARGE: { remedy: 'fixInput', httpStatus: 413, summary: 'The body of a request exceeds the size limit of the server.' },
  MEDIA_TYPE_UNSUPPORTED: {
    remedy: 'fixInput',
    httpStatus: 415,
    summary: 'The body of a request has a content type that is not supported.',
  },
  RATE_LIMITED: { remedy: 'retry', httpStatus: 429, summary: 'A client sends more requests than the rate limit allows.' },
  NOT_READY: {
    remedy: 'retry',
    httpStatus: 503,
    summary: 'The REST API is starting, stopping or overloaded, or the request timed out.',
  },
  RELEASE_STUCK: { remedy: 'giveUp', httpStatus: 504, summary: 'A release that a command waited for made no progress for too long.' },
  DEPENDENCY_MISSING: { remedy: 'fixInput', httpStatus: 500, summary: 'A library that the program requires is not installed.' },
  NODE_TOO_OLD: { remedy: 'fixInput', httpStatus: 500, summary: 'The program needs a newer version of Node.js.' },
  CRD_OUTDATED: {
    remedy: 'fixInput',
    httpStatus: 503,
    summary: 'The cluster drops fields that Tranche writes, because its CustomResourceDefinitions are outdated.',
  },
  REDIS_UNREACHABLE: { remedy: 'retry', httpStatus: 503, summary: 'Redis did not answer.' },
  REDIS_REFUSED: {
    remedy: 'fixInput',
    httpStatus: 502,
    summary: 'Redis rejects the connection: the password, the user or its permissions are wrong.',
  },
  REDIS_TLS: { remedy: 'fixInput', httpStatus: 502, summary: 'The TLS handshake with Redis fails, or its certificate is not trusted.' },
  REDIS_UNSUITABLE: {
    remedy: 'fixInput',
    httpStatus: 502,
    summary: 'The server cannot run the queue: it is a replica, too old, or not Redis.',
  },
  ROLLOUT_NOT_FOUND: { remedy: 'fixInput', httpStatus: 404, summary: 'There is no Rollout of that name in the namespace.' },
  NODE_NOT_FOUND: {
    remedy: 'fixInput',
    httpStatus: 404,
    summary: 'The DaemonSet should not run on a node of that name and has no pod there.',
  },
  REVISION_NOT_FOUND: {
    remedy: 'fixInput',
    httpStatus: 404,
    summary: 'The history of the DaemonSet has no revision of that number or hash.',
  },
  ACTION_INVALID: {
    remedy: 'fixInput',
    httpStatus: 400,
    summary: 'An action lacks a field that its type requires, or has a field of another type.',
  },
  ACTION_REJECTED: { remedy: 'fixInput', httpStatus: 409, summary: 'An action cannot be carried out in the current state of the release.' },
  NOT_BOUND: {
    remedy: 'fixInput',
    httpStatus: 409,
    summary: 'The DaemonSet that a Rollout names is not bound to this Rollout.',
  },
  MOVED_ON: {
    remedy: 'fixInput',
    httpStatus: 409,
    summary: 'The release is no longer at the step, revision or state that the action was meant for.',
  },
  ACTION_PENDING: { remedy: 'retry', httpStatus: 409, summary: 'Another action on the same release is not answered yet.' },
  IDEMPOTENCY_KEY_REUSED: {
    remedy: 'fixInput',
    httpStatus: 422,
    summary: 'An Idempotency-Key was used for two different actions.',
  },
  FORECAST_INVALID: {
    remedy: 'fixInput',
    httpStatus: 422,
    summary: 'A forecast request has a change or a fault that is impossible for this release.',
  },
  HOOK_REFUSED: {
    remedy: 'fixInput',
    httpStatus: 401,
    summary: 'A message to a hook has an invalid signature, asks for an action that the hook does not allow, or names an unknown hook.',
  },
  LOGIN_FAILED: { remedy: 'fixInput', httpStatus: 400, summary: 'A browser login was not completed.' },
  LOGIN_UNAVAILABLE: { remedy: 'retry', httpStatus: 503, summary: 'The OpenID provider did not answer.' },
  CSRF_REFUSED: {
    remedy: 'fixInput',
    httpStatus: 403,
    summary: 'A write in a browser session lacks the X-CSRF-Token or comes from another site.',
  },
  NAME_AMBIGUOUS: { remedy: 'fixInput', httpStatus: 400, summary: 'A command needs one Rollout, and several match.' },
  INVARIANT_BROKEN: { remedy: 'giveUp', httpStatus: 500, summary: 'The program reached an impossible state; this is a bug.' },
} as const satisfies Record<string, CatalogEntry>

/** A code from {@link errorCatalog}; part of the public API, so its meaning never changes. */
export type ErrorCode = keyof typeof errorCatalog
