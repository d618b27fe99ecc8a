/** The page docs/benchmarks.md and its pictures, made from the raw data. No measurement runs here. */
import { MADE, page, table } from '../../reference/markdown.ts'
import { benchSets } from '../sets.ts'
import { figure, isKept, medianOf, type Row, reportedOnly } from '../row.ts'
import { measuredSets, RECORDED, readData, type SetData } from './data.ts'
import { betterTools } from './better-tools.ts'
import { drawPicture, type PictureLine } from './picture.ts'

/** Folder of the pictures. */
export const pictureFolder = 'docs/benchmarks/pictures'

/** A generated file. */
interface Written {
  readonly path: string
  readonly text: string
}

/** @returns the page */
export function writtenBenchmarks(): Written {
  const data = orderedData()
  const text = page([
    '# Benchmarks',
    MADE,
    head,
    '## Repeat a measurement',
    repeat(data),
    ...data.flatMap(section),
    ...recordedSections(),
    '## Where others are better',
    toolsHead,
    table(
      ['point', 'others', 'Tranche'],
      betterTools.map(({ point, others, tranche }) => [point, others, tranche]),
    ),
  ])
  return { path: 'docs/benchmarks.md', text }
}

/** @returns pictures by file name */
export function writtenPictures(): ReadonlyMap<string, string> {
  const pictures = orderedData().flatMap(picturesOf)
  return new Map(pictures.map(({ file, svg }) => [file, svg]))
}

const head = `What a release costs, and how this grows. Each table has the median, the smallest and the greatest value of all runs, the limit that
the median has to keep, and the command that measures it again. Sets that are marked *exact* count, or measure virtual time: they are the
same on every machine. All other figures belong to the machine that the set names. Megabytes (MB) are 10⁶ bytes, MiB are 2²⁰.`

const recordedHead = `Releases on Kubernetes with a real API server, DaemonSet controller and scheduler, and simulated kubelets (KWOK). A watch records the
pods, and the judge of the simulator reads the recording. *Simulated Tranche* is a simulated release with the same number of nodes, limit and
batches, and with pods that stop in 0.5 s and start in 2 to 3 s.`

const toolsHead = `These figures were measured on Kubernetes 1.36.2 with simulated nodes (KWOK), and with openkruise/rollouts at commit 9dd6279. Pods
stop in 0.5 s and start in 2 to 3 s. The lower bound is the shortest time for the given pods and limit.
[Comparison](explanation/comparison.md) has the differences in what the tools do.`

function repeat(data: readonly SetData[]): string {
  const rows = Object.entries(benchSets)
    .filter(([, set]) => set.isReported)
    .map(([name, set]) => {
      const seen = data.find((one) => one.set === name)
      return [
        `\`pnpm bench ${name}\``,
        set.isExact ? 'exact' : '',
        `${set.minutes}`,
        seen === undefined ? 'not measured' : `${seen.day}, ${seen.machine.commit}`,
      ]
    })
  return `\`pnpm bench report\` measures every set that has no data of the current sources, one after the other, and writes this page after each.
The same command continues an interrupted run.

${table(['command', '', 'minutes on two idle processors', 'measured'], rows)}

\`pnpm bench SET --against REF\` measures a set in alternating runs of this checkout and of another commit, and prints the ratios.
\`pnpm bench recording FILE --limit N\` reads the recording of a release on a real cluster, and compares it with a simulated release of the
same shape.`
}

/** In the order of the sets; data of sets that are not reported any more is left out. */
function orderedData(): readonly SetData[] {
  const measured = new Set(measuredSets())
  return Object.entries(benchSets)
    .filter(([name, set]) => set.isReported && measured.has(name))
    .map(([name]) => readData(name))
    .filter((data) => data !== null)
}

function section(data: SetData): readonly string[] {
  const set = benchSets[data.set]
  if (set === undefined) return []
  const pictures = picturesOf(data).map(({ title, file }) => `![${title}](benchmarks/pictures/${file})`)
  return [`## ${data.set}`, set.about, machineText(data, set.isExact), ...pictures, rowsTable(data)]
}

function recordedSections(): readonly string[] {
  const names = measuredSets().filter((name) => name.startsWith(RECORDED))
  if (names.length === 0) return []
  return [
    '## On a real control plane',
    recordedHead,
    ...names.flatMap((name) => {
      const data = readData(name)!
      const title = name.slice(RECORDED.length)
      return [`### ${title}`, `Raw data: [${name}.json](benchmarks/data/${name}.json).`, rowsTable(data)]
    }),
  ]
}

function rowsTable(data: SetData): string {
  return table(
    ['figure', 'median', 'smallest', 'greatest', 'runs', 'limit', 'command'],
    data.rows.map((row) => cells(row, data)),
  )
}

function cells(row: Row, { command }: SetData): readonly string[] {
  const unit = row.unit === '' ? '' : ` ${row.unit}`
  const [least, most] = [Math.min(...row.values), Math.max(...row.values)]
  return [
    row.name,
    `${figure(medianOf(row.values))}${unit}`,
    figure(least),
    figure(most),
    String(row.values.length),
    limitText(row),
    `\`${command}\``,
  ]
}

function limitText(row: Row): string {
  const { limit } = row
  if ('atLeast' in limit && limit.atLeast === reportedOnly.atLeast) return ''
  const text = 'atMost' in limit ? `≤ ${limit.atMost.toLocaleString('en-US')}` : `≥ ${limit.atLeast.toLocaleString('en-US')}`
  return isKept(row) ? text : `**${text}, exceeded**`
}

function machineText({ set, machine, day, seconds }: SetData, isExact: boolean): string {
  const { cores, processor, memoryGib, loadBefore, node, commit } = machine
  const where = `${cores} × ${processor}, ${memoryGib} GiB, load ${loadBefore} before`
  return `Measured on ${day} in ${Math.round(seconds)} s at commit ${commit} with Node.js ${node.slice(1)}: ${where}.${isExact ? ' *Exact.*' : ''} Raw data: [${set}.json](benchmarks/data/${set}.json).`
}

interface DrawnPicture {
  readonly title: string
  readonly file: string
  readonly svg: string
}

function picturesOf({ set, rows }: SetData): readonly DrawnPicture[] {
  const placed = rows.flatMap((row) => (row.point === undefined ? [] : [{ ...row.point, y: medianOf(row.values) }]))
  return [...Map.groupBy(placed, ({ picture }) => picture)].map(([title, points], at) => {
    const lines: readonly PictureLine[] = [...Map.groupBy(points, ({ line }) => line)].map(([name, some]) => ({
      name,
      points: some.map(({ x, y }) => ({ x, y })),
    }))
    return { title, file: `${set}-${at + 1}.svg`, svg: drawPicture({ title, xName: points[0]!.xName, lines }) }
  })
}
