import { AppError } from '@tranche/errors'
import { isForbidden, type KubeClient, type ResourcePath } from '@tranche/kube-client'
import pLimit from 'p-limit'
import { type AccessRight, type NeededRight, rightText } from './access-right.ts'

/** User on whose behalf an account of its own reads the cluster. */
export interface Behalf {
  /** Whether the user has a right. Rejects if that cannot be found out. */
  mayUser(right: AccessRight): Promise<boolean>
  /** Name of the account that reads, for messages: `the service account of the REST API`. */
  readonly account: string
}

/** A right that is missing for a read. */
export interface Denied {
  /** Account that lacks it: `you`, or that of {@link Behalf}. */
  readonly who: string
  readonly denied: AccessRight
}

/** Read that was not made, or was refused, because a right is missing. */
export class ReadDenied extends AppError implements Denied {
  override readonly name = 'ReadDenied'
  readonly who: string
  readonly denied: AccessRight

  constructor({ who, denied }: Denied, cause?: unknown) {
    super('ACCESS_DENIED', deniedText({ who, denied }), { cause })
    this.who = who
    this.denied = denied
  }
}

/**
 * The only access of the checks to a cluster.
 *
 * `get`, `list` and `text` reject with {@link ReadDenied} without the right for the read. On behalf of a user, the right of the user is
 * checked before each read, so that no check reports to a user what the user may not read.
 */
export interface GuardedReads extends Pick<KubeClient, 'get' | 'list' | 'text'> {
  /** @returns whether the user has a right: of the client, or the one on whose behalf it reads */
  mayUser(right: NeededRight): Promise<boolean>
  /** @returns whether a service account has a right. Rejects with {@link ReadDenied} if the user may not ask that. */
  mayAccount(account: ServiceAccount, right: NeededRight): Promise<boolean>
}

/** Name of a service account. */
export interface ServiceAccount {
  readonly namespace: string
  readonly name: string
}

/** Maximum number of concurrent requests: the checks must not use all connections to the API server. */
const SIDE_BY_SIDE = 8

const ownReviews = accessReviews('selfsubjectaccessreviews')
const reviewsOfOthers = accessReviews('subjectaccessreviews')

/**
 * @param behalf null: the client has the rights of the user
 * @param signal ends requests in progress and those that wait
 */
export function guardReads(client: KubeClient, behalf: Behalf | null, signal: AbortSignal): GuardedReads {
  const limit = pLimit(SIDE_BY_SIDE)

  function guarded<T>(denied: AccessRight, request: () => Promise<T>): Promise<T> {
    return limit(async () => {
      signal.throwIfAborted()
      if (behalf !== null && !(await behalf.mayUser(denied))) throw new ReadDenied({ who: 'you', denied })
      try {
        return await request()
      } catch (error) {
        if (isForbidden(error)) throw new ReadDenied({ who: behalf?.account ?? 'you', denied }, error)
        throw error
      }
    })
  }

  async function review(kind: 'SelfSubjectAccessReview' | 'SubjectAccessReview', spec: object): Promise<boolean> {
    const object = { apiVersion: 'authorization.k8s.io/v1', kind, metadata: {}, spec }
    const answer = await client.create(kind === 'SubjectAccessReview' ? reviewsOfOthers : ownReviews, object, { signal })
    return (answer as { readonly status?: { readonly allowed?: boolean } }).status?.allowed === true
  }

  return {
    get: (resource, key, options) => guarded(rightFor('get', resource, key), () => client.get(resource, key, { signal, ...options })),
    list: (resource, options = {}) => {
      const place = { namespace: options.namespace, name: nameIn(options.fieldSelector) }
      return guarded(rightFor('list', resource, place), () => client.list(resource, { signal, ...options }))
    },
    text: (path, options) => guarded({ verb: 'get', path }, () => client.text(path, { signal, ...options })),
    mayUser: (right) => {
      if (behalf !== null) return limit(() => behalf.mayUser(right))
      return guarded(rightFor('create', ownReviews), () => review('SelfSubjectAccessReview', { resourceAttributes: attributesOf(right) }))
    },
    mayAccount: ({ namespace, name }, right) => {
      const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated']
      const spec = { user: `system:serviceaccount:${namespace}:${name}`, groups, resourceAttributes: attributesOf(right) }
      return guarded(rightFor('create', reviewsOfOthers), () => review('SubjectAccessReview', spec))
    },
  }
}

/** @returns the result of a read; the missing right if it was denied */
export async function unlessDenied<T>(read: Promise<T>): Promise<T | Denied> {
  try {
    return await read
  } catch (error) {
    if (error instanceof ReadDenied) return { who: error.who, denied: error.denied }
    throw error
  }
}

/** @returns whether a sign was not read, because a right is missing */
export function isDenied(sign: unknown): sign is Denied {
  return typeof sign === 'object' && sign !== null && 'denied' in sign
}

/** @returns `you may not list pods` */
export function deniedText({ who, denied }: Denied): string {
  return `${who} may not ${rightText(denied)}`
}

function accessReviews(plural: string): ResourcePath {
  return { group: 'authorization.k8s.io', version: 'v1', plural, namespaced: false }
}

interface Place {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

function rightFor(verb: string, { group, plural, namespaced }: ResourcePath, { namespace, name }: Place = {}): NeededRight {
  return {
    ...{ verb, group, resource: plural },
    ...(name !== undefined && { name }),
    ...(namespaced && { namespace: namespace ?? '' }),
  }
}

/** Like an API server, which authorizes a list of one name as access to that object. */
function nameIn(fieldSelector: string | undefined): string | undefined {
  return /^metadata\.name=([^,]+)$/.exec(fieldSelector ?? '')?.[1]
}

function attributesOf({ resource: path, ...where }: NeededRight): object {
  const [resource, subresource] = path.split('/')
  return { ...where, resource, ...(subresource !== undefined && { subresource }) }
}
