import { type DaemonSet, daemonSetAnnotations, parseTime, readJson, valueIn } from '@tranche/kube-types'
import { isLabelValue, isObjectName } from './fields/names.ts'
import { type Problem, problemOf } from './problems/problem.ts'
import type { ProblemRule } from './problems/rules.ts'

type Key = keyof typeof daemonSetAnnotations

const keyRules: Readonly<Record<Key, { readonly rule: ProblemRule; readonly holds: (value: string) => boolean }>> = {
  canaryRevision: { rule: 'KeyCanaryRevision', holds: isLabelValue },
  stableRevision: { rule: 'KeyStableRevision', holds: isLabelValue },
  partition: { rule: 'KeyPartition', holds: (value) => /^\d{1,9}$/.test(value) },
  paused: { rule: 'KeyPaused', holds: (value) => value === 'true' },
  controlInfo: { rule: 'KeyControlInfo', holds: (value) => hasText(value, 'name') && hasText(value, 'uid') },
  inProgressing: { rule: 'KeyInProgressing', holds: (value) => hasText(value, 'rolloutName') },
  originalUpdateStrategy: { rule: 'KeyOriginalStrategy', holds: (value) => value === 'RollingUpdate' || value === 'OnDelete' },
  rollout: { rule: 'KeyRollout', holds: isObjectName },
  frozen: { rule: 'KeyFrozen', holds: (value) => membersOf(value) !== null },
  reverted: { rule: 'KeyReverted', holds: (value) => parseTime(value) !== null },
  unsettled: { rule: 'KeyUnsettled', holds: isJson },
}

/**
 * Checks the annotations that Tranche owns on a DaemonSet, because a user may have edited them.
 *
 * @param annotations annotations of the DaemonSet, or those of them to check
 */
export function validateKeys({ annotations = {} }: Pick<DaemonSet['metadata'], 'annotations'>): readonly Problem[] {
  return (Object.keys(keyRules) as Key[]).flatMap((key) => {
    const value = valueIn(annotations, daemonSetAnnotations[key])
    const { rule, holds } = keyRules[key]
    return value === undefined || holds(value) ? [] : [problemOf(rule, { value })]
  })
}

function hasText(json: string, member: string): boolean {
  const value = membersOf(json)?.[member]
  return typeof value === 'string' && value !== ''
}

function isJson(text: string): boolean {
  try {
    readJson(text)
    return true
  } catch {
    return false
  }
}

function membersOf(json: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = readJson(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : null
  } catch {
    return null
  }
}
