import { wordRules } from '../prose/words.ts'

/** Maximum length of a subject, in characters. */
export const MAX_LENGTH = 72

/** Subjects that git writes itself. */
const generated = /^(?:Merge |Revert "|fixup! |squash! |amend! )/
const scoped = /^[a-z0-9][\w/.@-]*(?:[ ,]+[\w/.@-]+){0,3}: \S/
const notImperative = /^(?:\w{2,}(?:ed|ing)|\w*[^\Wsuia]s|a|an|the|this|it|we|i|now|no|when|where|what|how|why|who)$/i
/** Imperatives that look like another verb form. */
const imperatives = /^(?:need|feed|embed|seed|speed|shed|exceed|proceed|bring|string|ping|ring|release-\w+)$/i

/** @returns the problems of the first line of a commit message, each with its fix; none for lines that git writes itself */
export function faultsOfSubject(subject: string): readonly string[] {
  if (generated.test(subject)) return []
  const change = subject.slice(subject.indexOf(': ') + 2)
  const verb = /^\S+/.exec(change)?.[0] ?? ''
  return [
    ...(scoped.test(subject) ? [] : ['no scope; write "scope: what changes"']),
    ...(subject.length > MAX_LENGTH ? [`${subject.length} characters; use at most ${MAX_LENGTH} and put the rest in the body`] : []),
    ...(notImperative.test(verb) && !imperatives.test(verb) ? [`"${verb}" is not an imperative; begin with one: add, fix, read`] : []),
    ...(subject.endsWith('.') ? ['ends with a full stop; leave it out'] : []),
    ...wordRules.flatMap(({ pattern, advice }) => [...change.matchAll(pattern)].map(([word]) => `"${word}": use ${advice}`)),
  ]
}
