import type { ObjectKey } from '@tranche/kube-types'
import type { AccountSign } from './account-signs.ts'
import type { InstalledPod } from './installed-signs.ts'
import type { ReleaseSign } from './release-signs.ts'
import type { RolloutSign } from './rollout-signs.ts'
import type { WebhookSign } from './webhook-signs.ts'

/** Facts about a cluster; `forbidden` if the caller lacks the permission. */
export interface ClusterSigns {
  readonly server: string
  readonly context: string
  readonly version: { readonly major: string; readonly minor: string; readonly gitVersion: string }
  /** Tranche resources, and whether the API server serves them. */
  readonly served: Readonly<Record<string, boolean>>
  /** Description of the fields that the served schema would drop; null: none. */
  readonly schemaGap: string | null
  readonly rights: readonly Right[]
  /** Null if there is none. */
  readonly leader: LeaseSign | null | 'forbidden'
  /** Namespace of the Lease of controllers. */
  readonly leaseNamespace: string
  /** Rollouts of DaemonSets. */
  readonly rollouts: readonly RolloutSign[] | 'forbidden'
  /** DaemonSets on `OnDelete` whose pods only Tranche replaces. */
  readonly daemonSets: readonly ObjectKey[] | 'forbidden'
  readonly kruise: { readonly webhook: boolean; readonly lease: LeaseSign | null } | 'forbidden'
  /** Names of the Tranche policies and webhooks that admit updates of DaemonSets. */
  readonly admission: readonly string[] | 'forbidden'
  /** Pods of the chart; empty if Tranche was not installed by it. */
  readonly installed: readonly InstalledPod[] | 'forbidden'
  /** Service accounts of these pods and their permissions; `forbidden` if the caller may not check them. */
  readonly accounts: readonly AccountSign[] | 'forbidden'
  readonly releases: readonly ReleaseSign[] | 'forbidden'
  /** Configurations of the Tranche webhooks; empty with other admission modes. */
  readonly webhooks: readonly WebhookSign[] | 'forbidden'
  readonly redis: RedisSign
  /** Time of the API server minus local time, in milliseconds; null if it reports none. */
  readonly skewMs: number | null
  /** Local time, epoch milliseconds. */
  readonly nowMs: number
}

/**
 * Result of the Redis check.
 * - `asked`: it was checked; `of` names the source of its address, such as `redis://… of the pods `, or is empty.
 * - `several`: the pods use different servers.
 * - `hidden`: the pods use one that cannot be checked from here.
 * - `none`: the pods use none.
 * - `unknown`: there are no pods, and no option names one.
 */
export type RedisSign =
  | { readonly kind: 'asked'; readonly of: string; readonly problem: RedisFault | null; readonly advice: RedisFault | null }
  | { readonly kind: 'several'; readonly names: readonly string[] }
  | { readonly kind: 'hidden'; readonly name: string; readonly why: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' }

/** Problem or advice about Redis, with its fix. */
export interface RedisFault {
  readonly message: string
  readonly fix: string
}

/** Holder and times of a Lease. */
export interface LeaseSign {
  /** Empty if the Lease was released. */
  readonly holder: string
  /** Epoch milliseconds by the holder's clock. */
  readonly renewedMs: number
  readonly lengthMs: number
}

/** One permission of the caller. */
export interface Right {
  readonly verb: string
  /** `pods`, `rollouts.rollouts.kruise.io`. */
  readonly resource: string
  /** True if every command needs it; otherwise only some commands fail without it. */
  readonly needed: boolean
  readonly allowed: boolean
}
