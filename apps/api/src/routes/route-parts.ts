import { problemSchema } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import type { z } from 'zod'
import type { RememberedReviews } from '../auth/remembered-reviews.ts'
import type { Limits } from '../http/limits.ts'
import type { ReleaseReads } from '../release-reads.ts'
import type { PlanRelease } from '../plan/create-planner.ts'
import type { CarryOut } from './wishes.ts'

/** What routes work with. */
export interface RouteParts {
  readonly reads: ReleaseReads
  readonly reviews: RememberedReviews
  readonly limits: Limits
  readonly carryOut: CarryOut
  readonly plan: PlanRelease
}

/** Sections of the documentation. */
export const tags = {
  rollouts: ['Rollouts'],
  actions: ['Actions'],
  daemonSets: ['DaemonSets'],
  hooks: ['Hooks'],
  login: ['Login'],
  stream: ['Stream'],
  checks: ['Checks'],
  server: ['Server'],
} as const satisfies Record<string, readonly [string]>

/** @returns the answers of a route: 200, and a problem for everything that goes wrong */
export function answers<S extends z.ZodType>(success: S): { readonly 200: S; readonly default: typeof problemSchema } {
  return { 200: success, default: problemSchema }
}

/**
 * @returns `found`
 * @throws {AppError} ROLLOUT_NOT_FOUND, WORKLOAD_NOT_FOUND
 */
export function existing<T>(found: T | undefined, kind: 'Rollout' | 'DaemonSet', { namespace, name }: ObjectKey): T {
  if (found !== undefined) return found
  const code = kind === 'Rollout' ? 'ROLLOUT_NOT_FOUND' : 'WORKLOAD_NOT_FOUND'
  throw new AppError(code, `there is no ${kind} ${JSON.stringify(name)} in namespace ${JSON.stringify(namespace)}`)
}
