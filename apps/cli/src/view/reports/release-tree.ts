import type { BatchReport, NodeReport, RevisionReport, RolloutReport } from '@tranche/api-schema'
import { durationText } from '@tranche/clock'
import { displayWidth, padToWidth, shorten, type StyledSpan } from '../styled-line.ts'
import type { ReleasePicture } from '@tranche/release-client'
import { parseTime } from '@tranche/kube-types'
import { ageText, counted, nodeStyles, nodeWords, shortImage } from './report-words.ts'
import type { TreeItem } from './tree-lines.ts'

/** Level of detail of a tree. */
export interface TreeOptions {
  readonly nowMs: number
  /** Show every zone and every unhealthy node; otherwise a bounded number of each. */
  readonly wide: boolean
}

const MOST_ZONES = 6
const MOST_NODES = 4
/** Number of zones above which each zone lists fewer nodes. */
const MANY_ZONES = 3
const MOST_NODES_OF_MANY_ZONES = 2
/** Clouds give nodes names of 50 characters, which users copy. */
const LONGEST_NAME = 63
/** Worst first. */
const unwell = ['failing', 'down', 'notReady', 'updating'] as const satisfies readonly NodeReport['state'][]

/** Builds the tree revision → batch → zone → unhealthy nodes. Omits revisions without nodes, except the one being released. Pure. */
export function releaseTree(picture: ReleasePicture, options: TreeOptions): readonly TreeItem[] {
  const branches = Map.groupBy(picture.nodes, (node) => branchOf(node, picture.report))
  const shown = picture.revisions.filter((revision) => revision.role === 'canary' || branches.has(revision.revision))
  const unknown = [...branches].filter(([hash]) => !shown.some(({ revision }) => revision === hash))
  return [
    ...shown.map((revision) => revisionItem(revision, branches.get(revision.revision) ?? [], { picture, options })),
    ...unknown.map(([, nodes]) => unknownRevisionItem(nodes, options)),
  ]
}

/** Revision under which a node is shown: a node between two pods will run the released one. */
function branchOf({ role, state, revision }: NodeReport, { canaryRevision }: RolloutReport): string {
  const comesUp = state === 'updating' && (role === 'canary' || role === 'none')
  return (role === 'canary' || comesUp || revision === undefined ? canaryRevision : revision) ?? ''
}

interface Context {
  readonly picture: ReleasePicture
  readonly options: TreeOptions
}

function revisionItem(revision: RevisionReport, nodes: readonly NodeReport[], context: Context): TreeItem {
  const { role, held, images, number } = revision
  const titles = [role === 'none' ? '' : role, held ? 'blocked' : ''].filter((word) => word !== '').join(', ')
  return {
    spans: [
      ['bold', `revision ${number}`],
      `  ${revision.revision}`,
      ...(titles === '' ? [] : ([['cyan', `  ${titles}`]] as const)),
      `  ${images.map(shortImage).join(', ')}`,
      ['dim', `  ${nodesText(nodes, revision)}`],
    ],
    items: role === 'canary' && releaseRuns(context) ? batchItems(nodes, context) : zoneItems(nodes, { ...context.options, all: false }),
  }
}

/** Counts nodes that run the revision, and those between two pods separately. */
function nodesText(nodes: readonly NodeReport[], { revision }: RevisionReport): string {
  const there = nodes.filter((node) => node.revision === revision).length
  return `${counted(there, 'node')}${there === nodes.length ? '' : `, ${nodes.length - there} on their way`}`
}

function releaseRuns({ picture: { batches } }: Context): boolean {
  return batches.length > 0
}

function batchItems(nodes: readonly NodeReport[], { picture, options }: Context): readonly TreeItem[] {
  const current = picture.batches.find(({ state }) => state === 'current')?.index
  const byBatch = Map.groupBy(nodes, (node) => node.batch ?? (node.state === 'updating' ? current : undefined))
  const outside = byBatch.get(undefined) ?? []
  return [
    ...shownBatches(picture).map((batch) => batchItem(batch, byBatch.get(batch.index) ?? [], { picture, options })),
    ...(outside.length === 0
      ? []
      : [
          {
            spans: [
              `in no batch  `,
              ['dim', `${counted(outside.length, 'node')}, without a batch label (not yet labelled, or leaked)`],
            ] as const,
            items: zoneItems(outside, { ...options, all: false }),
          },
        ]),
  ]
}

/** Batches to show; for a disabled Rollout, only those with updated nodes. */
function shownBatches({ batches, report }: ReleasePicture): readonly BatchReport[] {
  return isDisabled(report) ? batches.filter(({ updated }) => updated > 0) : batches
}

function isDisabled({ phase }: RolloutReport): boolean {
  return phase === 'Disabled'
}

function batchItem(batch: BatchReport, nodes: readonly NodeReport[], { picture: { report, batches }, options }: Context): TreeItem {
  const before = batches.find(({ index }) => index === batch.index - 1)?.nodes ?? 0
  const step = report.steps.find(({ index }) => index === batch.index)
  const title = [`batch ${batch.index}  `, ...(step === undefined ? [] : [`${step.replicas}  `])]
  const state: readonly StyledSpan[] = isDisabled(report)
    ? [report.outcome === 'Done' ? batchMarks.done : ['yellow', 'frozen'], `  ${throughText(batch)}`]
    : isPassedOver(batch, before)
      ? [['dim', 'passed over']]
      : [batchMarks[batch.state], `  ${batchCounts(batch, before)}`, ['dim', hasPauses(report) ? pauseText(step?.pause) : '']]
  return {
    spans: [...title, ...state],
    items: zoneItems(nodes, { ...options, all: batch.state === 'current' }),
  }
}

/** Whether the release has left the batch, for instance by a jump, before any node was updated by it. */
function isPassedOver({ state, nodes, updated }: BatchReport, before: number): boolean {
  return state === 'done' && updated === 0 && nodes > before
}

/** Whether its release still pauses between batches: one that ends with its Rollout does not. */
function hasPauses({ phase }: RolloutReport): boolean {
  return phase !== 'Terminating' && phase !== 'Disabling'
}

const batchMarks: Readonly<Record<BatchReport['state'], StyledSpan>> = {
  done: ['green', 'done'],
  current: ['cyan', 'now'],
  ahead: ['dim', 'ahead'],
}

/** Counts of a batch; `no node` for one whose step adds none to the `before` ones. One that is ahead has updated nodes after a jump back, or if the release was frozen later. */
function batchCounts(batch: BatchReport, before: number): string {
  const { state, nodes, updated } = batch
  if (nodes <= before && updated === 0) return NO_NODE
  const most = `up to ${counted(nodes, 'node')}`
  if (state === 'ahead' && updated === 0) return most
  return state === 'done' ? throughText(batch) : `${throughText(batch)}, ${most}`
}

/** Text of a batch whose step adds no node. */
const NO_NODE = 'no node'

function throughText({ updated, available }: BatchReport): string {
  return available === updated ? `${available} available` : `${available} of ${updated} available`
}

function pauseText(pause: string | undefined): string {
  if (pause === undefined) return ''
  return pause === 'person' ? ', then approval' : `, then ${pauseSpan(pause)} pause`
}

function pauseSpan(pause: string): string {
  const seconds = Number(/^(\d+)s$/.exec(pause)?.[1])
  return Number.isNaN(seconds) ? pause : durationText(seconds * 1000)
}

function unknownRevisionItem(nodes: readonly NodeReport[], options: TreeOptions): TreeItem {
  const hash = nodes[0]?.revision ?? ''
  return {
    spans: [
      ['bold', hash === '' ? 'no pod' : `revision ${hash}`],
      ['dim', `  ${counted(nodes.length, 'node')}`],
    ],
    items: zoneItems(nodes, { ...options, all: false }),
  }
}

interface ZoneOptions extends TreeOptions {
  /** Include zones whose nodes are all healthy. */
  readonly all: boolean
}

/** Zones with their nodes; without zones, the nodes directly. */
function zoneItems(nodes: readonly NodeReport[], options: ZoneOptions): readonly TreeItem[] {
  const zones = [...Map.groupBy(nodes, ({ zone }) => zone)].toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  if (zones.every(([zone]) => zone === '')) return nodeItems(nodes, { ...options, mostNodes: MOST_NODES })
  const notable = zones.filter(([, members]) => options.all || options.wide || members.some(isUnwell))
  const shown = options.wide ? notable : worstZones(notable)
  const left = notable.filter((zone) => !shown.includes(zone))
  const mostNodes = shown.length > MANY_ZONES ? MOST_NODES_OF_MANY_ZONES : MOST_NODES
  return [
    ...zones.filter((zone) => shown.includes(zone)).map((zone) => zoneItem(zone, { ...options, mostNodes })),
    ...(left.length === 0 ? [] : [moreZones(left)]),
  ]
}

type Zone = readonly [string, readonly NodeReport[]]

function worstZones(zones: readonly Zone[]): readonly Zone[] {
  const weight = ([, members]: Zone): number => members.filter((node) => isUnwell(node)).length
  return zones.toSorted((a, b) => weight(b) - weight(a)).slice(0, MOST_ZONES)
}

function moreZones(zones: readonly Zone[]): TreeItem {
  const nodes = zones.flatMap(([, members]) => members)
  return { spans: [['dim', `and ${counted(zones.length, 'more zone')}: `], ...stateSpans(nodes)], items: [] }
}

function zoneItem([zone, members]: Zone, options: NodeOptions): TreeItem {
  return { spans: [zoneTitle(zone), '  ', ...stateSpans(members)], items: nodeItems(members, options) }
}

/** Adds the word zone unless the name begins with it. */
function zoneTitle(zone: string): string {
  if (zone === '') return 'in no zone'
  return zone.startsWith('zone') ? zone : `zone ${zone}`
}

function stateSpans(nodes: readonly NodeReport[]): readonly StyledSpan[] {
  const states = [...new Set<NodeReport['state']>(['updated', ...unwell, 'old', 'excluded'])]
  const parts = states.flatMap((state): readonly StyledSpan[] => {
    const count = nodes.filter((node) => node.state === state).length
    return count === 0 ? [] : [[nodeStyles[state], `${count} ${nodeWords[state]}`]]
  })
  return parts.flatMap((part, at) => (at === 0 ? [part] : [', ', part]))
}

function isUnwell({ state }: NodeReport): boolean {
  return (unwell as readonly string[]).includes(state)
}

interface NodeOptions extends TreeOptions {
  readonly mostNodes: number
}

function nodeItems(nodes: readonly NodeReport[], { wide, nowMs, mostNodes }: NodeOptions): readonly TreeItem[] {
  const rank = ({ state }: NodeReport): number => (unwell as readonly string[]).indexOf(state)
  const notable = nodes.filter(isUnwell).toSorted((a, b) => rank(a) - rank(b) || (a.since ?? '').localeCompare(b.since ?? ''))
  const shown = wide || notable.length === mostNodes + 1 ? notable : notable.slice(0, mostNodes)
  const width = Math.min(LONGEST_NAME, Math.max(0, ...shown.map(({ name }) => displayWidth(name))))
  const left = notable.slice(shown.length)
  return [
    ...shown.map((node) => nodeItem(node, { width, wide, nowMs })),
    ...(left.length === 0 ? [] : [{ spans: [['dim', 'and more: '], ...stateSpans(left)] as const, items: [] }]),
  ]
}

function nodeItem(node: NodeReport, { width, wide, nowMs }: TreeOptions & { readonly width: number }): TreeItem {
  const { restarts = 0 } = node
  return {
    spans: [
      `${padToWidth(shorten(node.name, LONGEST_NAME), width)}  `,
      [nodeStyles[node.state], nodeWords[node.state]],
      ...(node.since === undefined ? [] : ([['dim', ` ${ageText(node.since, nowMs)}`]] as const)),
      ...(node.failsAt === undefined ? [] : ([['yellow', `, ${deadlineText(node.failsAt, nowMs)}`]] as const)),
      ...(isDead(node) ? ([['yellow', ', dead']] as const) : []),
      ...(node.budget?.counts === false ? ([['dim', ', costs no budget']] as const) : []),
      ...(wide && node.pod !== undefined ? [`  ${node.pod}`] : []),
      ...(node.why === undefined ? [] : [`  ${node.why}`]),
      ...(restarts === 0 ? [] : ([['dim', `  ${counted(restarts, 'restart')}`]] as const)),
    ],
    items: [],
  }
}

function isDead({ budget }: NodeReport): boolean {
  return budget?.reason === 'Exempt' || budget?.reason === 'TooManyDead'
}

const DAY_MS = 86_400_000

/** `must be available by 12:09Z`; with the date if that is a day ahead or more. */
function deadlineText(failsAt: string, nowMs: number): string {
  const [date, time = ''] = failsAt.split('T')
  return `must be available by ${(parseTime(failsAt) ?? nowMs) - nowMs < DAY_MS ? '' : `${date} `}${time.slice(0, 5)}Z`
}
