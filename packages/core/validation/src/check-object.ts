import { valueIn } from '@tranche/kube-types'
import {
  type BatchRelease,
  batchReleaseSchema,
  type DefinedKind,
  pathOfField,
  policyDurations,
  type ReleasePolicy,
  releasePolicySchema,
  type Rollout,
  rolloutSchema,
  unknownFields,
} from '@tranche/api-schema'
import { adviseBatchRelease } from './advise-others.ts'
import { type AdviceSurroundings, adviseRollout } from './advise-rollout.ts'
import { oversizeProblems } from './fields/oversize-problems.ts'
import { pathText } from './fields/path-text.ts'
import { advisePolicy } from './policy/advise-policy.ts'
import { validatePolicyRules } from './policy/validate-policy-rules.ts'
import { firstAdvice, firstProblems, findingsOfEach, MOST_FINDINGS } from './problems/bounded.ts'
import { type Advice, type Problem, problemOf } from './problems/problem.ts'
import type { ProblemRule } from './problems/rules.ts'
import { validateBatchRelease } from './validate-batch-release.ts'
import { validateRollout } from './validate-rollout.ts'

/** Findings of an untrusted object, and the typed object. */
export interface Checked<T> {
  /** Every problem in one go, up to a number. */
  readonly problems: readonly Problem[]
  readonly advice: readonly Advice[]
  /** The object; null when a field has a wrong type, and for one that is too large. */
  readonly object: T | null
  /** Set for an object that is too large, of which nothing else was checked. */
  readonly isOversized?: true
}

/**
 * Checks anything that claims to be a Rollout: first that its fields exist and have the right types, then every rule. A problem
 * in one field does not hide those in other fields. Never throws.
 */
export function checkRollout(value: unknown, surroundings: AdviceSurroundings): Checked<Rollout> {
  return check(value, {
    schema: rolloutSchema.pick({ metadata: true, spec: true }),
    kind: 'Rollout',
    rule: 'RolloutField',
    standIns: ofDaemonSet,
    validate: (rollout: Rollout) => validateRollout(rollout, surroundings),
    advise: (rollout: Rollout) => adviseRollout(rollout, surroundings),
  })
}

/** Checks anything that claims to be a BatchRelease, as {@link checkRollout} does. */
export function checkBatchRelease(value: unknown): Checked<BatchRelease> {
  return check(value, {
    schema: batchReleaseSchema.pick({ metadata: true, spec: true }),
    kind: 'BatchRelease',
    rule: 'BatchReleaseField',
    standIns: ofDaemonSet,
    validate: (release: BatchRelease) => validateBatchRelease(release),
    advise: (release: BatchRelease) => adviseBatchRelease(release),
  })
}

/** Checks anything that claims to be a ReleasePolicy, as {@link checkRollout} does. */
export function checkPolicy(value: unknown): Checked<ReleasePolicy> {
  return check(value, {
    schema: releasePolicySchema.pick({ metadata: true, spec: true }),
    kind: 'ReleasePolicy',
    rule: 'PolicyField',
    validate: validatePolicyRules,
    advise: advisePolicy,
  })
}

/**
 * Checks a policy, including one read from an API server, which may keep fields that the schema does not have. Does not check the
 * status: the controller writes it, and a newer version may add fields. Never throws.
 *
 * @returns every problem, each with path, value and fix; empty when releases may use the policy
 */
export function validatePolicy(policy: ReleasePolicy): readonly Problem[] {
  const { status: _ours, ...written } = policy
  return checkPolicy(written).problems
}

/** An object without a workload is checked as if it named a DaemonSet. */
const ofDaemonSet = {
  'spec.workloadRef': { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'any' },
  'spec.workloadRef.apiVersion': 'apps/v1',
  'spec.workloadRef.kind': 'DaemonSet',
}

interface Issue {
  readonly path: readonly PropertyKey[]
  readonly code: string
  /** Allowed values of an enumeration. */
  readonly values?: readonly unknown[]
  /** Required type, when the value has another one. */
  readonly expected?: string
  readonly message: string
}

interface Checks<T> {
  readonly schema: {
    safeParse(value: unknown): { readonly success: boolean; readonly error?: { readonly issues: readonly Issue[] } | undefined }
  }
  readonly kind: DefinedKind
  readonly rule: ProblemRule
  /** Values that replace missing fields, by path. @default a value of the required type */
  readonly standIns?: Readonly<Record<string, unknown>>
  readonly validate: (object: T) => readonly Problem[]
  readonly advise: (object: T) => readonly Advice[]
}

function check<T>(value: unknown, checks: Checks<T>): Checked<T> {
  const { schema, kind, rule, standIns = {} } = checks
  // The time of the other checks depends on the sizes.
  const { lists } = oversizeProblems(kind, at(value, ['spec']))
  if (lists.length > 0) return { problems: firstProblems(lists), advice: [], object: null, isOversized: true }
  const issues = schema.safeParse(value).error?.issues ?? []
  const reported = [...findingsOfEach(issues, (issue) => [fieldProblem(rule, value, issue)]), ...unknownProblems(value, checks)]
  const object = issues.length === 0 ? (value as T) : null
  const fixed = issues.length === 0 ? value : reported.length > MOST_FINDINGS ? null : fixObject(value, schema, standIns)
  if (fixed === null) return { problems: firstProblems(reported), advice: [], object }
  return { ...withRules(fixed as T, reported, checks), object }
}

function unknownProblems(value: unknown, { kind, rule }: Checks<never>): readonly Problem[] {
  return unknownFields(kind, value, MOST_FINDINGS + 1).map((path) =>
    problemOf(rule, {
      path: pathText(path),
      value: at(value, path),
      message: 'no such field exists, and the API server would drop it',
      fix: 'remove it, or correct its name',
    }),
  )
}

/** Adds what the rules say about the fields without a problem. */
function withRules<T>(object: T, reported: readonly Problem[], { validate, advise }: Checks<T>): Pick<Checked<T>, 'problems' | 'advice'> {
  const isNew = ({ path }: Problem | Advice): boolean => !reported.some((other) => isWithin(path, other.path))
  return {
    problems: firstProblems([...reported, ...validate(object).filter(isNew)]),
    advice: firstAdvice(advise(object).filter(isNew)),
  }
}

/** Whether `path` is `field` or lies within it: each field is reported once. */
function isWithin(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`)
}

function fieldProblem(rule: ProblemRule, value: unknown, issue: Issue): Problem {
  const { path, message } = issue
  const found = at(value, path)
  const isDuration = issue.expected === 'string' && Object.hasOwn(policyDurations, pathOfField(pathText(path)))
  const fix = path.length === 0 ? undefined : found === undefined ? 'add it' : isDuration ? durationFix(found) : typeFix(issue)
  return problemOf(rule, {
    path: pathText(path),
    value: found,
    message: found === undefined ? 'it is required' : (typeText(issue, found, isDuration) ?? lowerFirst(message)),
    ...(fix !== undefined && { fix }),
  })
}

/** What the value is, and what it must be; undefined if the value has the required type, or none of these. */
function typeText({ code, expected = '' }: Issue, found: unknown, isDuration: boolean): string | undefined {
  const wanted = isDuration ? 'a duration such as 30s' : valueIn(typeTexts, expected)
  if (code !== 'invalid_type' || wanted === undefined) return undefined
  const is = found === null ? 'null' : (valueIn(typeTexts, Array.isArray(found) ? 'array' : typeof found) ?? typeof found)
  return is === wanted ? undefined : `it is ${is}, and must be ${wanted}`
}

const typeTexts: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

/** A number alone has no unit; seconds are what Kubernetes means by one. */
function durationFix(found: unknown): string {
  return typeof found === 'number' ? `add a unit, as in ${found}s: ms, s, m or h` : 'set it to a duration such as 30s'
}

/** Fix for a value of a wrong type, in terms of YAML, by the required type. */
const inYaml: Readonly<Record<string, string>> = {
  string: 'set it to a string; quote one that looks like a number',
  number: 'set it to a number, without quotes and without a unit',
  int: 'set it to a whole number, without quotes and without a unit',
  boolean: 'set it to true or false, without quotes',
  array: 'make it a list with one entry a line, each after a hyphen',
  object: 'make it an object with one field a line',
}

function typeFix({ values, expected = '' }: Issue): string | undefined {
  return values === undefined ? valueIn(inYaml, expected) : `set it to ${alternatives(values.map(String))}`
}

function alternatives(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, part) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, part) ? (inner as Record<PropertyKey, unknown>)[part] : undefined,
    value,
  )
}

/** Maximum number of rounds: nested objects that are all missing are added one a round. */
const FIX_ROUNDS = 10

/**
 * Makes a copy that the schema accepts, so that the rules can check the other fields: values of a wrong type are removed, and
 * stand-ins fill required fields. Null when that fails.
 */
function fixObject(value: unknown, schema: Checks<unknown>['schema'], standIns: Readonly<Record<string, unknown>>): unknown {
  const copy = structuredClone(value)
  for (let round = 0; round < FIX_ROUNDS; round++) {
    const issues = schema.safeParse(copy).error?.issues ?? []
    if (issues.length === 0) return copy
    if (!issues.every((issue) => fixField(copy, issue, valueIn(standIns, pathText(issue.path))))) return null
  }
  return null
}

/** @returns whether a field was fixed; entries of lists are never removed, so that the others keep their indexes */
function fixField(copy: unknown, issue: Issue, known: unknown): boolean {
  const { path } = issue
  const parent = at(copy, path.slice(0, -1))
  const last = path.at(-1)
  const instead = known === undefined ? standIn(issue) : structuredClone(known)
  if (last === undefined || typeof parent !== 'object' || parent === null) return false
  if (Array.isArray(parent)) parent[Number(last)] = instead
  else if (Object.hasOwn(parent, last)) Reflect.deleteProperty(parent, last)
  else (parent as Record<PropertyKey, unknown>)[last] = instead
  return true
}

/** Value of the required type. Findings about it are dropped, because its path is already reported. */
function standIn({ values, expected = '' }: Issue): unknown {
  if (values !== undefined) return values[0]
  const ofType: Readonly<Record<string, unknown>> = { string: '', boolean: false, array: [], object: {}, record: {} }
  return structuredClone(valueIn(ofType, expected) ?? 1)
}
