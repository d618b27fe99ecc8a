/** One word or phrase that texts avoid, in all its forms, and what to write in its place. */
export interface WordRule {
  readonly pattern: RegExp
  readonly advice: string
}

/** A place where a word keeps its usual meaning. */
export interface Exception {
  /** Start of the paths, from the root of the repository; "" is everywhere. */
  readonly path: string
  /** The word with what surrounds it, matched against the text around the finding. */
  readonly pattern: RegExp
  readonly reason: string
}

const noun = 'name the actor: the user, the client, the controller, another process'

const rules: readonly (readonly [RegExp, string])[] = [
  // Pronouns in place of an actor.
  [/(?:who|whom|whoso)ever/, noun],
  [/(?:some|no|any|every)body/, noun],
  [/someone|no one/, noun],
  [/he who/, noun],
  [/to his/, noun],
  [/he|she|him|his|himself/, 'name the actor, or "they", "their"'],
  [/(?:for|to|by|from|than) who/, noun],
  [/of (?:those|them) who/, noun],

  // Archaisms.
  [/anew/, 'again'],
  [/hence|thence|whence|henceforth/, 'so, therefore, from there'],
  [/(?:there|where|here)(?:of|in|from|with|upon|unto|by|to)/, 'of it, in it: repeat the noun'],
  [/of ours|of theirs|of mine/, 'our, their'],
  [/so many/, 'the number, or "that many"'],
  [/so often is|so long is|so much is/, 'subject first, then the verb'],
  [/as of (?!v?\d|version|kubernetes|now|this|today|release|helm|node)/, 'like, from, at: say which'],
  [/(?:for|in) want of/, 'without, because … is missing'],
  [/(?:is|are|be|was|were|been) had/, 'is available'],
  [/mend(?:s|ed|ing)?/, 'fix'],
  [/(?:go|goes|going|gone|went) on/, 'continue, resume'],
  [/stands?(?! (?:for|out|by|in for)\b)|stood/, 'is, are, be listed'],
  [/begin of/, 'start of, prefix of'],
  [/ere|lest|nought|naught|forthwith|betimes/, 'a word of today'],

  // Words that were coined here, and those of the field.
  [/wish(?:es|ed|ing)?/, 'action'],
  [
    /(?:take|takes|took|taken|taking) (?:(?:it|them|one|a|an|the|that|this|its|their|version|template|revision|release) ){0,2}back/,
    'roll back',
  ],
  [/let(?:s|ting)? (?:(?:it|them|of|a|the|one|daemonset|rollout|workload) ){0,2}go/, 'detach'],
  [/(?<!of )courses?/, 'state, next state'],
  [/scenes?/, 'fence state'],
  [/flown/, 'tracked'],
  [/(?:free|more|many|spare|few|fewer|enough|left|are|no|all|two|three) places/, 'budget'],
  [/bury|buries|buried|burying|burials?/, 'discard'],
  [/voids?(?! function)|voided|voidings?/, 'revoke'],
  [/announcers?/, 'enqueuer'],
  [/announcements?/, 'published target'],
  [/told(?! apart)|tells?(?! (?:\S+ ){0,4}apart\b)|telling(?! (?:\S+ ){0,4}apart\b)/, 'report, say, notify, export'],
  [/foretells?|foretold|foretelling/, 'forecast, predict'],
  [/witness(?:es|ed|ing)?/, 'change observer, observe'],
  [/seen actions?/, 'observed change'],
  [/steer(?:s|ed|ing)?/, 'control; of the package, release client'],
  [/desks?/, 'release client'],
  [/doors?/, 'handler'],
  [/visitors?/, 'client'],
  [/strangers?/, 'unauthenticated client'],
  [/(?:a|the|its|his|their|each|every|own|next|whose) turns?/, 'slot'],
  [/rooms/, 'semaphore'],
  [/(?:fair|equal|its|own|their|a|the) shares?(?! (?:their|its|the|a|an|one)\b)/, 'quota, fraction'],
  [/bells?/, 'signal, notifier'],
  [/reflections?/, 'cluster cache'],
  [/outgoing/, 'egress'],
  [/lease sights?|sights?/, 'lease observation'],
  [/crash[- ]points?/, 'failpoint'],
  [/(?:un)?contested/, 'drift, conflicting update'],
  [/chronicles?/, 'timeline'],
  [/(?<!by )accidents?/, 'injected fault'],
  [/prospects?/, 'node outlook'],
  [/deeds?/, 'operation'],
  [/weathers?/, 'fault phase'],
  [/calm(?:s|ed|er|ing|ly)?/, 'quiesce, quiet'],
  [/toys?/, 'fake'],
  [/contenders?/, 'conflicting Rollout'],
  [/rivals?|rivalry/, 'conflicting Rollout'],
  [/peers?(?! dependenc)/, 'OpenKruise controller'],
  [/held revisions?/, 'blocked revision'],
]

/** Every banned word. Matched case-insensitively; a space matches any white space, so that a phrase may cross lines. */
export const wordRules: readonly WordRule[] = rules.map(([pattern, advice]) => ({
  pattern: new RegExp(`(?<![\\w-])(?:${pattern.source.replaceAll(' ', '\\s+')})(?![\\w-])`, 'gi'),
  advice,
}))

/** First words of a sentence whose subject is a relative clause without a noun. */
export const headlessStart =
  /^(?:Who|Whom|Those who)\s|^What\s+(?:is|are|was|were|has|have|had|may|must|can|cannot|could|does|do|did|will|would|should|stands|comes|goes|happens|happened|counts|follows|remains|belongs|makes|needs|says|waits|ends|begins|lies|lives|came|went|leads|takes|reads|writes|runs|keeps|holds|gives|gets|shows|depends|differs|changes|changed|lasts|fails|failed|looks|uses|asks|concerns)\b/

/** Kept words, and words of other programs. */
export const exceptions: readonly Exception[] = [
  { path: '', pattern: /\b(?:returns?|type|typed|undefined|be|as|or) void\b/i, reason: '`void` of TypeScript' },
  { path: 'apps/launcher/src/logging/logging.ts', pattern: /^message$/, reason: 'passes on a message that is checked where it is written' },
  { path: '', pattern: /\bin the course of\b/i, reason: 'English: during' },
  { path: 'charts/', pattern: /\bpeers?\b.*NetworkPolicy/, reason: 'NetworkPolicy names sources and destinations so' },
  { path: '', pattern: /\bpeer (?:certificates?|address)\b/i, reason: 'TLS and sockets name the other end so' },
  { path: '', pattern: /\bas (?:it|things) stands?\b/i, reason: 'English: at the moment' },
  { path: 'packages/', pattern: /\bvoiding\b/, reason: 'stored value of the permit record, until the next version' },
  { path: 'packages/words/cel/src/field-names.ts', pattern: /\bvar void while\b/, reason: 'reserved words of CEL' },
  { path: 'scripts/bundle-licenses.ts', pattern: /\bhereby granted\b/, reason: 'the MIT licence, verbatim' },
  { path: 'test/architecture/commits.test.ts', pattern: /\bstatus anew\b/, reason: 'plants the word' },
  { path: '', pattern: /\btaken? turns?\b/i, reason: 'English: to alternate' },
  { path: '', pattern: /\bgo(?:es|ing)? on (?:the|a|an|one|each|every|node|nodes)\b/i, reason: 'of pods: placed on' },
]

/** Files whose prose is not ours to word, or is worded elsewhere; by start of path. */
export const skipped: readonly (readonly [path: string, reason: string])[] = [
  ['examples/gitops/vendor/', 'published by Argo CD and Flux'],
  ['test/chart/golden/', 'rendered from the chart, which is checked'],
  ['apps/cli/test/golden/', 'printed by the command, whose texts are checked'],
  ['apps/launcher/test/golden/', 'printed by the command, whose texts are checked'],
  ['charts/tranche/files/crds/', 'a copy of packages/api-schema/crds'],
  ['charts/tranche/files/admission-', 'generated from packages/admission, which is checked'],
  ['charts/tranche/files/defaults.yaml', 'generated from charts/tranche/values.yaml, which is checked'],
  ['docs/reference/rollout.md', 'generated from the schema, which is checked'],
  ['docs/reference/batchrelease.md', 'generated from the schema, which is checked'],
  ['docs/reference/commands.md', 'generated from the commands, which are checked'],
  ['docs/reference/rest.md', 'generated from the schemas, which are checked'],
  ['charts/tranche/README.md', 'generated from charts/tranche/values.yaml, which is checked'],
  ['docs/reference/values.md', 'generated from charts/tranche/values.yaml, which is checked'],
  ['docs/contribute/adr/', 'records are never rewritten'],
  ['CHANGELOG.md', 'history is quoted as it was'],
  ['pnpm-lock.yaml', 'written by pnpm'],
  ['scripts/prose/words.ts', 'lists the words'],
  ['test/architecture/prose.test.ts', 'plants the words'],
]
