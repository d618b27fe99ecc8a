/**
 * What can be done about an error. One word decides three things: whether a reconciler requeues,
 * which class of HTTP status an API answers with, and the exit code of the command line.
 */
export type Remedy = 'retry' | 'fixInput' | 'giveUp'

interface CatalogEntry {
  readonly remedy: Remedy
  readonly httpStatus: number
  /** One sentence for docs/errors.md. The message of a thrown error adds the names and numbers. */
  readonly summary: string
}

/** Every error a user or operator can meet. A test keeps docs/errors.md and this table equal. */
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
  WRITE_CONFLICT: { remedy: 'retry', httpStatus: 409, summary: 'The object changed between our read and our write.' },
  KUBECONFIG_INVALID: { remedy: 'fixInput', httpStatus: 400, summary: 'The kubeconfig cannot be read or names no usable cluster.' },
  CREDENTIALS_UNAVAILABLE: { remedy: 'retry', httpStatus: 503, summary: 'The credentials for the API server cannot be had at the moment.' },
  OPTION_INVALID: { remedy: 'fixInput', httpStatus: 400, summary: 'A command line has a wrong option, value or argument.' },
  PORT_IN_USE: { remedy: 'fixInput', httpStatus: 400, summary: 'Another program listens on the port asked for.' },
  FILE_UNWRITABLE: { remedy: 'fixInput', httpStatus: 400, summary: 'A file that was asked for cannot be written.' },
  FILE_UNREADABLE: { remedy: 'fixInput', httpStatus: 400, summary: 'A file that was named cannot be read.' },
  FAULTS_INVALID: {
    remedy: 'fixInput',
    httpStatus: 422,
    summary: 'A document of faults for the simulator cannot be read, or states what cannot be.',
  },
  TOKEN_INVALID: {
    remedy: 'fixInput',
    httpStatus: 401,
    summary: 'A request carries no bearer token, or one that nobody knows.',
  },
  REQUEST_INVALID: {
    remedy: 'fixInput',
    httpStatus: 400,
    summary: 'A request has a path, method, content type or size that the server does not take.',
  },
  ACCESS_DENIED: { remedy: 'fixInput', httpStatus: 403, summary: 'The sender of a request may not do what it asks for.' },
  REVIEW_UNAVAILABLE: {
    remedy: 'retry',
    httpStatus: 503,
    summary: 'The API server did not say who sends a request, or what they may do.',
  },
  NOT_FOUND: { remedy: 'fixInput', httpStatus: 404, summary: 'A request names an object, or a path, that does not exist.' },
  BODY_TOO_LARGE: { remedy: 'fixInput', httpStatus: 413, summary: 'The body of a request is larger than the server takes.' },
  MEDIA_TYPE_UNSUPPORTED: { remedy: 'fixInput', httpStatus: 415, summary: 'The body of a request has a content type that is not taken.' },
  RATE_LIMITED: { remedy: 'retry', httpStatus: 429, summary: 'Somebody sends more requests than the server takes from one sender.' },
  NOT_READY: {
    remedy: 'retry',
    httpStatus: 503,
    summary: 'The REST API has not seen the cluster yet, stops, has more work than it can do, or took too long.',
  },
  RELEASE_STUCK: { remedy: 'giveUp', httpStatus: 504, summary: 'A release that a command waited for made no progress for too long.' },
  DEPENDENCY_MISSING: { remedy: 'fixInput', httpStatus: 500, summary: 'A library that the program needs is not installed.' },
  NODE_TOO_OLD: { remedy: 'fixInput', httpStatus: 500, summary: 'The program runs on a Node.js version older than it needs.' },
  CRD_OUTDATED: {
    remedy: 'fixInput',
    httpStatus: 503,
    summary: 'The cluster drops fields that Tranche writes, because its CustomResourceDefinitions are older ones.',
  },
  REDIS_UNREACHABLE: { remedy: 'retry', httpStatus: 503, summary: 'Redis did not answer.' },
  REDIS_REFUSED: { remedy: 'fixInput', httpStatus: 502, summary: 'Redis does not let us in: the password, the user, or its permissions.' },
  REDIS_TLS: { remedy: 'fixInput', httpStatus: 502, summary: 'Redis and we do not agree on TLS, or its certificate is not trusted.' },
  REDIS_UNSUITABLE: {
    remedy: 'fixInput',
    httpStatus: 502,
    summary: 'What answers cannot carry the queue: a replica, too old, or no Redis.',
  },
  ROLLOUT_NOT_FOUND: { remedy: 'fixInput', httpStatus: 404, summary: 'There is no Rollout of that name in the namespace.' },
  NODE_NOT_FOUND: {
    remedy: 'fixInput',
    httpStatus: 404,
    summary: 'The DaemonSet neither should run on a node of that name nor has a pod there.',
  },
  REVISION_NOT_FOUND: {
    remedy: 'fixInput',
    httpStatus: 404,
    summary: 'The history of the DaemonSet has no revision of that number or hash.',
  },
  ACTION_INVALID: {
    remedy: 'fixInput',
    httpStatus: 400,
    summary: 'An action lacks a member that its type needs, or has one of another type.',
  },
  ACTION_REJECTED: { remedy: 'fixInput', httpStatus: 409, summary: 'An action cannot be carried out in the present state of the release.' },
  NOT_BOUND: {
    remedy: 'fixInput',
    httpStatus: 409,
    summary: 'The DaemonSet that a Rollout names is not bound to this Rollout.',
  },
  MOVED_ON: {
    remedy: 'fixInput',
    httpStatus: 409,
    summary: 'An action was meant for a step, a revision or a state that the release has left.',
  },
  ACTION_PENDING: { remedy: 'retry', httpStatus: 409, summary: 'Another action on the same release has no answer yet.' },
  IDEMPOTENCY_KEY_REUSED: {
    remedy: 'fixInput',
    httpStatus: 422,
    summary: 'An Idempotency-Key was used for two different actions.',
  },
  FORECAST_INVALID: {
    remedy: 'fixInput',
    httpStatus: 422,
    summary: 'A forecast is asked for a change or a fault that this release cannot have.',
  },
  HOOK_REFUSED: {
    remedy: 'fixInput',
    httpStatus: 401,
    summary: 'A message to a hook is not signed as it must be, or asks for what the hook does not allow; or there is no such hook.',
  },
  LOGIN_FAILED: { remedy: 'fixInput', httpStatus: 400, summary: 'A login with a browser did not come to its end.' },
  LOGIN_UNAVAILABLE: { remedy: 'retry', httpStatus: 503, summary: 'The OpenID provider did not answer.' },
  CSRF_REFUSED: {
    remedy: 'fixInput',
    httpStatus: 403,
    summary: 'A write by the session of a browser lacks its X-CSRF-Token, or comes from another page than ours.',
  },
  NAME_AMBIGUOUS: { remedy: 'fixInput', httpStatus: 400, summary: 'A command is to be about one Rollout, and several could be meant.' },
  INVARIANT_BROKEN: { remedy: 'giveUp', httpStatus: 500, summary: 'The program reached a state it rules out; this is a bug.' },
} as const satisfies Record<string, CatalogEntry>

/** A code from {@link errorCatalog}; part of the public API, so its meaning never changes. */
export type ErrorCode = keyof typeof errorCatalog
