import { problemSchema } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { RememberedReviews } from '../auth/remembered-reviews.ts'
import type { Question } from '../auth/reviews.ts'
import type { Limits } from '../limits/limits.ts'
import { accessResources, questionText } from '../auth/access.ts'
import { callerOf } from '../http/guard.ts'
import type { ReleaseReads, WorkloadAccess } from '../cluster/release-reads.ts'
import type { PlanRelease } from '../plan/create-planner.ts'
import type { CarryOut } from './actions.ts'

/** Dependencies that most routes share. */
export interface RouteParts {
  readonly reads: ReleaseReads
  readonly reviews: RememberedReviews
  readonly limits: Limits
  readonly carryOut: CarryOut
  readonly plan: PlanRelease
}

/** Tags of the OpenAPI document. */
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

/** @returns response schemas of a route: 200, and problem details (RFC 9457) for every error */
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

/** @returns the error for a node on which the DaemonSet of a Rollout does not run */
export function nodeNotFound({ name, node }: { readonly name: string; readonly node: string }): AppError {
  return new AppError('NODE_NOT_FOUND', `the DaemonSet of Rollout ${JSON.stringify(name)} does not run on node ${JSON.stringify(node)}`)
}

type Reading = Pick<RouteParts, 'reads' | 'reviews'>

/**
 * @returns `any` if the DaemonSet that the Rollout names is not bound to it and the caller may `get` that DaemonSet
 * @throws {AppError} REVIEW_UNAVAILABLE
 */
export async function workloadAccessOf({ reads, reviews }: Reading, request: unknown, key: ObjectKey): Promise<WorkloadAccess> {
  const workload = reads.unboundWorkload(key)
  if (workload === undefined) return 'bound'
  const caller = callerOf(request as FastifyRequest)
  return (await reviews.isAllowed(caller, getQuestion(workload))) ? 'any' : 'bound'
}

/**
 * Checks that the caller may read a pod template. The right to `get` Rollouts does not cover it: a template holds the values of
 * environment variables.
 *
 * @throws {AppError} ACCESS_DENIED if the caller may not `get` the DaemonSet; REVIEW_UNAVAILABLE
 */
export async function requireTemplateRight({ reads, reviews }: Reading, request: unknown, { namespace, name }: ObjectKey): Promise<void> {
  const daemonSet = reads.summary({ namespace, name })?.daemonSet
  if (daemonSet === undefined) return
  const caller = callerOf(request as FastifyRequest)
  const question = getQuestion({ namespace, name: daemonSet })
  if (await reviews.isAllowed(caller, question)) return
  throw new AppError('ACCESS_DENIED', `user ${JSON.stringify(caller.username)} may not ${questionText(question)}`, {
    hint: 'Reading a pod template needs the right to get its DaemonSet. Ask for a role that grants it.',
  })
}

/** @returns the question whether a caller may `get` the DaemonSet, and so read its pod templates */
export function getQuestion({ namespace, name }: ObjectKey): Question {
  return { kind: 'resource', verb: 'get', ...accessResources.daemonsets, namespace, name }
}
