import type { DoctorReport } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { type AccessRight, examineCluster } from '@tranche/doctor'
import type { KubeClient } from '@tranche/kube-client'
import type { Exchange } from '@tranche/wire'
import type { Caller } from '../auth/caller.ts'
import type { RememberedReviews } from '../auth/remembered-reviews.ts'
import type { Question } from '../auth/reviews.ts'
import { mayListAll, visibleNamespaces } from '../auth/visibility.ts'
import { createSlot } from '../threads/slot.ts'

/**
 * Checks the prerequisites of the cluster as far as the caller may read it.
 *
 * @throws {AppError} NOT_READY if too many requests wait; RATE_LIMITED if another check of the user waits or runs; REVIEW_UNAVAILABLE;
 * errors of KubeClient
 */
export type RunDoctor = (caller: Caller, signal: AbortSignal) => Promise<DoctorReport>

/** Dependencies of {@link createDoctor}. */
export interface DoctorParts {
  readonly client: KubeClient
  readonly exchange: Exchange
  /** Clock of this machine, which is compared with that of the API server. */
  readonly ownClock: Clock
  /** Clock of the API server. */
  readonly clock: Clock
  readonly reviews: RememberedReviews
  /** Whether the client has the rights of the only caller; else each read needs the right of the caller too. */
  readonly ownUser: boolean
  /** Namespaces of this API; undefined: all. */
  readonly scope: readonly string[] | undefined
  /** Namespaces with Rollouts. */
  readonly namespaces: () => Iterable<string>
  /** Namespace of the Lease of controllers. */
  readonly leaseNamespace: string
  /** Version of this program. */
  readonly version: string
}

/** Maximum number of namespaces that are read for a caller who may not read all. */
const MOST_NAMESPACES = 10
const ACCOUNT = 'the service account of the REST API'

/** Runs one check at a time, because each sends some hundred requests to the API server. */
export function createDoctor(parts: DoctorParts): RunDoctor {
  const { client, exchange, ownClock, clock, reviews, ownUser, leaseNamespace, version } = parts
  const runInSlot = createSlot({ one: 'a check of the cluster', many: 'checks of the cluster' })
  const examiner = ownUser
    ? { name: 'this command', machine: 'this machine', version, needsRights: true }
    : { name: 'the REST API', machine: 'the REST API', version, needsRights: false }

  async function examine(caller: Caller, signal: AbortSignal): Promise<DoctorReport> {
    const user = asAuthenticated(caller)
    const mayUser = (right: AccessRight): Promise<boolean> => reviews.isAllowed(user, questionFor(right))
    const checkedAt = new Date(clock.nowMs()).toISOString()
    const { isEverywhere, namespaces } = await readScope(parts, user)
    const some = namespaces.slice(0, MOST_NAMESPACES)
    const items = await examineCluster({
      ...{ client, exchange, clock: ownClock, signal, leaseNamespace, examiner },
      ...{ namespace: isEverywhere ? '' : (some[0] ?? ''), namespaces: some },
      server: 'the API server',
      behalf: ownUser ? null : { mayUser, account: ACCOUNT },
      redis: null,
      prepareRedisCheck: null,
    })
    return { checkedAt, items: [...items, ...(isEverywhere ? [] : unreadNote(namespaces))] }
  }

  return (caller, signal) => runInSlot({ by: caller.username, signal }, () => examine(caller, signal))
}

/** What a caller may read: everything, or these namespaces, by name. */
interface ReadScope {
  readonly isEverywhere: boolean
  readonly namespaces: readonly string[]
}

/** Namespaces to read where not all may be read: those of the API, else those in which the caller may list Rollouts. */
async function readScope({ reviews, scope, namespaces }: DoctorParts, user: Caller): Promise<ReadScope> {
  const isEverywhere = await mayListAll(reviews, user)
  const seen = isEverywhere ? (scope ?? []) : await visibleNamespaces(reviews, user, scope ?? namespaces())
  return { isEverywhere, namespaces: [...seen].sort() }
}

/** Says that more namespaces have Rollouts of the caller than are read. */
function unreadNote(namespaces: readonly string[]): DoctorReport['items'] {
  const left = namespaces.slice(MOST_NAMESPACES)
  if (left.length === 0) return []
  const message = `the Rollouts and DaemonSets of ${left.length} of your ${namespaces.length} namespaces were not looked at, from ${left[0]} on`
  return [{ check: 'left', state: 'unknown', message }]
}

/** The API server counts every user that it has authenticated as a member; a browser login names only the groups of the provider. */
function asAuthenticated({ groups, ...caller }: Caller): Caller {
  return { ...caller, groups: [...new Set([...groups, 'system:authenticated'])] }
}

function questionFor(right: AccessRight): Question {
  if ('path' in right) return { kind: 'path', ...right }
  const { namespace = '', name = '', ...what } = right
  return { kind: 'resource', ...what, namespace, name }
}
