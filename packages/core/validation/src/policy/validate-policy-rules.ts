import type { ReleasePolicy, ReleasePolicySpec, TrancheSpec } from '@tranche/api-schema'
import { type IntOrString, scaleIntOrPercent } from '@tranche/kube-types'
import { findingsOfEach } from '../problems/bounded.ts'
import { type Problem, problemOf } from '../problems/problem.ts'
import { isEntryName } from '../fields/names.ts'
import { problemsWithin } from '../fields/oversize-problems.ts'
import { selectorFaults } from '../fields/selector-faults.ts'
import { validateDrain } from './validate-drain.ts'
import { validateAnalyses } from './validate-analysis.ts'
import { expressionSizeProblems } from './validate-policy-sizes.ts'
import { validateFailure } from './validate-failure.ts'
import { validateNodes } from './validate-nodes.ts'
import { validateReceivers } from './validate-receivers.ts'
import { durationProblems, numberProblems } from './validate-values.ts'

/** Checks every rule about a policy whose fields have the types of the schema. */
export function validatePolicyRules({ spec }: ReleasePolicy): readonly Problem[] {
  return problemsWithin('ReleasePolicy', spec, () => specProblems(spec))
}

function specProblems(spec: ReleasePolicySpec): readonly Problem[] {
  const oversized = expressionSizeProblems(spec.analysis ?? [])
  if (oversized.length > 0) return oversized
  return [
    ...validateNodes(spec.nodes ?? {}),
    ...budgetProblems(spec.maxUnavailable),
    ...validateFailure(spec.failure ?? {}),
    ...validateDrain(spec.drain ?? {}),
    ...soakProblems(spec.soak),
    ...validateAnalyses(spec.analysis ?? []),
    ...downtimeProblems(spec.downtime),
    ...prePullProblems(spec.prePull),
    ...validateReceivers(spec.notify ?? []),
  ]
}

/**
 * Checks the parts of a policy that a BatchRelease carries, whose lists have an allowed size.
 *
 * @returns the same problems as for a policy, with paths that begin with `spec.`
 */
export function validateTrancheRules({ nodes, failure, analysis, prePull, drain, downtime }: TrancheSpec): readonly Problem[] {
  const oversized = expressionSizeProblems(analysis ?? [])
  if (oversized.length > 0) return oversized
  const steps = findingsOfEach(nodes?.steps ?? [], (selector, index) => selectorFaults(`spec.nodes.steps[${index}]`, selector))
  return [
    ...validateNodes(nodes ?? {}),
    ...steps.map((fault) => problemOf('PolicySelector', fault)),
    ...validateFailure(failure ?? {}),
    ...validateDrain(drain ?? {}),
    ...validateAnalyses(analysis ?? []),
    ...downtimeProblems(downtime),
    ...prePullProblems(prePull),
  ]
}

function budgetProblems(value: IntOrString | undefined): readonly Problem[] {
  if (value === undefined) return []
  const nodes = scaleIntOrPercent(value, 100)
  if (nodes === null)
    return [problemOf('PolicyMaxUnavailable', { value, message: 'it must be a whole number of nodes or a percentage up to 100%' })]
  return nodes === 0 ? [problemOf('PolicyMaxUnavailable', { value, message: 'the budget is zero nodes, so no pod could be replaced' })] : []
}

function downtimeProblems({ group, perDay }: NonNullable<ReleasePolicySpec['downtime']> = {}): readonly Problem[] {
  return [
    ...(group === undefined || isEntryName(group) ? [] : [problemOf('GroupName', { value: group })]),
    ...durationProblems('spec.downtime.perDay', perDay),
  ]
}

function prePullProblems(rules: ReleasePolicySpec['prePull']): readonly Problem[] {
  return [...numberProblems('spec.prePull.parallel', rules?.parallel), ...durationProblems('spec.prePull.timeout', rules?.timeout)]
}

function soakProblems(soak: ReleasePolicySpec['soak']): readonly Problem[] {
  return [...durationProblems('spec.soak.step', soak?.step), ...durationProblems('spec.soak.final', soak?.final)]
}
