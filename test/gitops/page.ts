import type { Verdicts } from './verdicts.ts'

const head = `# Status of a Rollout in GitOps tools

Made by \`test/gitops\`. It plays releases on the simulator, gives every state that a watch delivers to each tool, and compares this page.
\`pnpm test:gitops\` does the same with Argo CD's own Lua and scripts, and with the libraries of kstatus and Flux.

- *Argo CD*: with [our scripts](argo-cd.md#health-and-actions), which also show \`status.message\`, and the actions that they offer.
- *its own script*: Argo CD without our scripts, with its own check for OpenKruise.
- *kstatus*: Flux and other tools with kstatus, without expressions.
- *Flux*: with [the expressions](flux.md#the-health-of-a-release) of \`healthCheckExprs\` for Rollouts. With those for DaemonSets, a release that is *rolled back* is Failed.

A machine that is lost in mid-release gives *Stalled by ReleaseFailed*, too: its node turned NotReady after the update, which by default counts as
a failure and stops the release. [failure.maxFailedNodes or ignoreReasons](../reference/policy.md#failure) of a policy changes that.

While the generation is not observed, all tools report progress; the table has one such line for each phase.

| phase, reason of Progressing, step | Argo CD | its own script | kstatus | Flux | actions |
|---|---|---|---|---|---|
`

/** The page of docs with the result of every tool in every situation. */
export function verdictsPage(verdicts: readonly Verdicts[]): string {
  const rows = verdicts.map(({ standing, argo, argoOwn, kstatus, flux, actions }) =>
    [standing, argo.status, argoOwn, kstatus, flux, actions.toSorted().join(', ')].join(' | '),
  )
  return `${head}${rows.map((row) => `| ${row} |\n`).join('')}`
}
