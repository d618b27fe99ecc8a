import type { ObjectKey } from '@tranche/kube-types'
import type { AccountSign, TooManyRights } from './account-signs.ts'
import type { Denied } from './guarded-reads.ts'
import type { InstalledPod } from './installed-signs.ts'
import type { LeftWork } from './left-work-signs.ts'
import type { PodPolicySign } from './pod-policy-signs.ts'
import type { PolicySigns } from './policy-signs.ts'
import type { ReleaseSign } from './release-signs.ts'
import type { RolloutSign } from './rollout-signs.ts'
import type { WebhookSign } from './webhook-signs.ts'

/** Facts about a cluster; {@link Denied} where a right is missing to read them. */
export interface ClusterSigns {
  /** Name of the API server, for messages: `https://10.0.0.1:6443 (context production)`. */
  readonly server: string
  readonly version: ServerVersion | Denied
  /** Tranche resources, and whether the API server serves them. */
  readonly served: Readonly<Record<string, boolean>> | Denied
  /** Description of the fields that the served schema would drop; null: none. */
  readonly schemaGap: string | null | Denied
  readonly rights: readonly Right[] | Denied
  /** Namespace in which the rights were checked; empty: all namespaces. */
  readonly rightsNamespace: string
  /** Null if there is none. */
  readonly leader: LeaseSign | null | Denied
  /** Namespace of the Lease of controllers. */
  readonly leaseNamespace: string
  /** Rollouts of DaemonSets. */
  readonly rollouts: readonly RolloutSign[] | Denied
  /** ReleasePolicies that these Rollouts name. */
  readonly policies: PolicySigns | Denied
  /** Namespaces whose Rollouts were read; null: all. */
  readonly rolloutNamespaces: readonly string[] | null
  /** DaemonSets on `OnDelete` whose pods only Tranche replaces. */
  readonly daemonSets: readonly ObjectKey[] | Denied
  /** What programs that do not run any more have left; null: it was not looked for, because they seem to run. */
  readonly leftWork: LeftWork | null
  readonly kruise: { readonly webhook: boolean; readonly lease: LeaseSign | null } | Denied
  /** Names of the Tranche policies and webhooks that admit updates of DaemonSets. */
  readonly admission: readonly string[] | Denied
  /** Pods of the chart; empty if Tranche was not installed by it. */
  readonly installed: readonly InstalledPod[] | Denied
  /** Service accounts of these pods and their permissions. */
  readonly accounts: readonly AccountSign[] | TooManyRights | Denied
  /** Policies that name copies of config in pods; empty where no controller pins config. */
  readonly podPolicies: readonly PodPolicySign[] | Denied
  readonly releases: readonly ReleaseSign[] | Denied
  /** Configurations of the Tranche webhooks; empty with other admission modes. */
  readonly webhooks: readonly WebhookSign[] | Denied
  readonly redis: RedisSign | Denied
  /** Time of the API server minus local time, in milliseconds; null if it reports none. */
  readonly skewMs: number | null
  /** Local time, epoch milliseconds. */
  readonly nowMs: number
}

/** Version of the API server, as at `/version`. */
export interface ServerVersion {
  readonly major: string
  readonly minor: string
  readonly gitVersion: string
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

/** One permission of the user. */
export interface Right {
  readonly verb: string
  /** `pods`, `rollouts.rollouts.kruise.io`. */
  readonly resource: string
  /** True if every command needs it; otherwise only some commands fail without it. */
  readonly needed: boolean
  readonly allowed: boolean
}
