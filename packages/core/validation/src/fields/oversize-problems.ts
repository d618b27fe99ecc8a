import { type DefinedKind, type Oversize, oversizes } from '@tranche/api-schema'
import { firstProblems } from '../problems/bounded.ts'
import { type Problem, problemOf } from '../problems/problem.ts'
import { type ProblemRule, problemRules } from '../problems/rules.ts'
import { pathText } from './path-text.ts'

/** The parts of a spec that are too large. */
export interface SizeProblems {
  /** The time of every other check depends on these: with any of them, callers check no other rule. */
  readonly lists: readonly Problem[]
  /** Texts that are too long; other rules may report the same fields. */
  readonly texts: readonly Problem[]
}

/**
 * Checks the sizes of a spec, from the limits in the definition of its kind and the totals for a whole spec. Takes a few milliseconds
 * for a spec of any size: a user who may write one could otherwise stop the controller.
 *
 * @param spec of anything that claims to be an object of this kind
 */
export function oversizeProblems(kind: DefinedKind, spec: unknown): SizeProblems {
  const { lists, texts } = oversizes(kind, spec)
  return { lists: lists.map((part) => toProblem(kind, part)), texts: texts.map((part) => toProblem(kind, part)) }
}

/**
 * Checks the sizes of a spec, and, where these allow it, the rules. Never lists more problems than a reader can use.
 *
 * @param rules checks all rules about a spec whose lists have an allowed size
 */
export function problemsWithin(kind: DefinedKind, spec: unknown, rules: () => readonly Problem[]): readonly Problem[] {
  const { lists, texts } = oversizeProblems(kind, spec)
  if (lists.length > 0) return firstProblems(lists)
  const problems = rules()
  const unreported = texts.filter(({ path }) => !problems.some((problem) => problem.path === path))
  return firstProblems([...problems, ...unreported])
}

const sizeRules = { Rollout: 'RolloutSize', BatchRelease: 'BatchReleaseSize', ReleasePolicy: 'PolicySize' } as const satisfies Record<
  DefinedKind,
  ProblemRule
>

function toProblem(kind: DefinedKind, part: Oversize): Problem {
  const path = pathText(part.path)
  const { count, of, most } = part
  if (path === problemRules.StepsTooMany.path && of === 'list') return problemOf('StepsTooMany', { value: `${count} steps` })
  return problemOf(sizeRules[kind], { path, ...wordsOf(of, count, most) })
}

const BY_LABEL = 'or select the nodes by a common label'

function wordsOf(
  of: Oversize['of'],
  count: number,
  most: number,
): { readonly value: string; readonly message: string; readonly fix: string } {
  switch (of) {
    case 'list':
    case 'map': {
      const message = `the ${of} has ${count} entries; the maximum is ${most}`
      return { value: `${count} entries`, message, fix: `keep ${most} entries or fewer` }
    }
    case 'requirements': {
      const message = `the selector has ${count} requirements; the maximum is ${most}`
      return { value: `${count} requirements`, message, fix: `keep ${most} or fewer, ${BY_LABEL}` }
    }
    case 'values': {
      const message = `the requirement has ${count} values; the maximum is ${most}`
      return { value: `${count} values`, message, fix: `keep ${most} or fewer, ${BY_LABEL}` }
    }
    case 'characters':
      return { value: `${count} characters`, message: `the text has ${count} characters; the maximum is ${most}`, fix: 'make it shorter' }
    case 'allRequirements':
    case 'allValues': {
      const what = of === 'allValues' ? 'values' : 'requirements'
      const message = `all selectors up to here have ${count} ${what}; the maximum is ${most}`
      return { value: `${count} ${what}`, message, fix: `keep ${most} or fewer, ${BY_LABEL}` }
    }
    case 'entries': {
      const message = `all lists and objects up to here have ${count} entries; the maximum is ${most}`
      return { value: `${count} entries`, message, fix: `keep ${most} or fewer in the whole spec` }
    }
    default:
      return of satisfies never
  }
}
