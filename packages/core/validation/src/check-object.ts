import {
  type BatchRelease,
  batchReleaseSchema,
  type DefinedKind,
  type ReleasePolicy,
  releasePolicySchema,
  type Rollout,
  rolloutSchema,
  unknownFields,
} from '@tranche/api-schema'
import { adviseBatchRelease } from './advise-others.ts'
import { type AdviceSurroundings, adviseRollout } from './advise-rollout.ts'
import { advisePolicy } from './policy/advise-policy.ts'
import { validatePolicyRules } from './policy/validate-policy-rules.ts'
import { type Advice, type Problem, problemOf } from './problem.ts'
import type { ProblemRule } from './rules.ts'
import { validateBatchRelease } from './validate-batch-release.ts'
import { validateRollout } from './validate-rollout.ts'

/** What is said of an object from outside, of which nothing is known yet. */
export interface Checked<T> {
  /** Every problem, in one go. */
  readonly problems: readonly Problem[]
  readonly advice: readonly Advice[]
  /** The object, where its fields have the types they should; null where they have not. */
  readonly object: T | null
}

/**
 * Checks anything that claims to be a Rollout: first that its fields exist and have the right types, then every rule. What
 * one field breaks does not hide what the others do. Never throws.
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
 * Checks a policy, also one that an API server gave out: it lets words through that no field of ours knows. Not its status, which is
 * written by us, and where a newer version has fields more. Never throws.
 *
 * @returns every problem, each with path, value and fix; empty when releases may go by it
 */
export function validatePolicy(policy: ReleasePolicy): readonly Problem[] {
  const { status: _ours, ...written } = policy
  return checkPolicy(written).problems
}

/** One that names no workload is looked at as one of ours. */
const ofDaemonSet = {
  'spec.workloadRef': { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'any' },
  'spec.workloadRef.apiVersion': 'apps/v1',
  'spec.workloadRef.kind': 'DaemonSet',
}

interface Issue {
  readonly path: readonly PropertyKey[]
  readonly code: string
  /** What is allowed, where that is a list. */
  readonly values?: readonly unknown[]
  /** The type that is needed, where another one stands. */
  readonly expected?: string
  readonly message: string
}

interface Checks<T> {
  readonly schema: {
    safeParse(value: unknown): { readonly success: boolean; readonly error?: { readonly issues: readonly Issue[] } | undefined }
  }
  readonly kind: DefinedKind
  readonly rule: ProblemRule
  /** What is put in the place of a field that is missing, by its path. @default something of its type */
  readonly standIns?: Readonly<Record<string, unknown>>
  readonly validate: (object: T) => readonly Problem[]
  readonly advise: (object: T) => readonly Advice[]
}

function check<T>(value: unknown, { schema, kind, rule, standIns = {}, validate, advise }: Checks<T>): Checked<T> {
  const issues = schema.safeParse(value).error?.issues ?? []
  const wrong = issues.map((issue) => fieldProblem(rule, value, issue))
  const unknown = unknownFields(kind, value).map((path) =>
    problemOf(rule, {
      path: pathText(path),
      value: at(value, path),
      message: 'there is no such field, and it would be dropped',
      fix: 'remove it, or mend its name',
    }),
  )
  const fixed = issues.length === 0 ? value : fixObject(value, schema, standIns)
  if (fixed === null) return { problems: [...wrong, ...unknown], advice: [], object: null }
  const reported = [...wrong, ...unknown]
  const isNew = ({ path }: Problem | Advice): boolean => !reported.some((other) => isWithin(path, other.path))
  const object = issues.length === 0 ? (value as T) : null
  return { problems: [...reported, ...validate(fixed as T).filter(isNew)], advice: advise(fixed as T).filter(isNew), object }
}

/** Of a field that is told already, and what is in it, nothing more is said. */
function isWithin(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`)
}

function fieldProblem(rule: ProblemRule, value: unknown, issue: Issue): Problem {
  const { path, message } = issue
  const found = at(value, path)
  const fix = path.length === 0 ? undefined : found === undefined ? 'add it' : typeFix(issue)
  return problemOf(rule, {
    path: pathText(path),
    value: found,
    message: found === undefined ? 'it is required' : lowerFirst(message),
    ...(fix !== undefined && { fix }),
  })
}

/** What a type is in YAML, for those who write it. */
const inYaml: Readonly<Record<string, string>> = {
  string: 'set it to a text; one that looks like a number stands in quotes',
  number: 'set it to a number, without quotes and without a unit',
  int: 'set it to a whole number, without quotes and without a unit',
  boolean: 'set it to true or false, without quotes',
  array: 'make it a list: an entry a line, each behind a hyphen',
  object: 'make it fields with values, each on a line of its own',
}

function typeFix({ values, expected = '' }: Issue): string | undefined {
  return values === undefined ? inYaml[expected] : `set it to ${alternatives(values.map(String))}`
}

function alternatives(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`
}

/** As the API server writes paths. */
function pathText(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>((whole, part) => (typeof part === 'number' ? `${whole}[${part}]` : `${whole}.${String(part)}`), '')
  return text === '' ? 'the document' : text.slice(1)
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, part) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, part) ? (inner as Record<PropertyKey, unknown>)[part] : undefined,
    value,
  )
}

/** Objects within objects that are all missing are made one after the other. */
const FIX_ROUNDS = 10

/**
 * A copy that the schema accepts, so that rules can be checked for everything else: without what has another type, and with
 * something in the place of what is required. Null where there is none.
 */
function fixObject(value: unknown, schema: Checks<unknown>['schema'], standIns: Readonly<Record<string, unknown>>): unknown {
  const copy = structuredClone(value)
  for (let round = 0; round < FIX_ROUNDS; round++) {
    const issues = schema.safeParse(copy).error?.issues ?? []
    if (issues.length === 0) return copy
    if (!issues.every((issue) => fixField(copy, issue, standIns[pathText(issue.path)]))) return null
  }
  return null
}

/** @returns whether there is a field to mend; entries of lists are not taken out, so that the others keep their numbers */
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

/** Something of the type that is needed. What is said of it is left out, for it stands at a path that is told already. */
function standIn({ values, expected = '' }: Issue): unknown {
  if (values !== undefined) return values[0]
  const ofType: Readonly<Record<string, unknown>> = { string: '', boolean: false, array: [], object: {}, record: {} }
  return structuredClone(ofType[expected] ?? 1)
}
