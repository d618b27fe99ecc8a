import { cpSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { layerOf } from '../image/layer.ts'
import { type Addresses, imageOf } from './addresses.ts'
import { filesOfArchive } from './layer-files.ts'
import type { CommandRunner } from './run-command.ts'

/** A chart to package. */
export interface ChartSource {
  readonly version: string
  readonly addresses: Addresses
  /** Time of every file in the package. */
  readonly created: Date
  /** Program. */
  readonly helm: string
}

/**
 * Packages the chart with the registry of its image, so that it needs no value for it. Helm stamps the time of packaging; the package gets the
 * time of the commit instead, so that the same commit gives the same digest.
 *
 * @param folder that gets the package
 * @returns path of the package
 */
export async function packageChart(
  folder: string,
  { version, addresses, created, helm }: ChartSource,
  run: CommandRunner,
): Promise<string> {
  const work = mkdtempSync(join(tmpdir(), 'tranche-chart-'))
  try {
    const copy = join(work, 'tranche')
    cpSync('charts/tranche', copy, { recursive: true })
    replaceIn(join(copy, 'values.yaml'), 'registry: ""', `registry: ${addresses.registry}`)
    replaceIn(join(copy, 'Chart.yaml'), `image: tranche:${version}\n      whitelisted: true`, `image: ${imageOf(addresses)}:${version}`)
    replaceIn(join(copy, 'Chart.yaml'), '# The image is in no public registry, so nothing can be scanned.\n  ', '')
    await run(helm, ['package', copy, '--version', version, '--app-version', version, '--destination', work])
    const name = `tranche-${version}.tgz`
    const { bytes } = await layerOf(await filesOfArchive(readFileSync(join(work, name))), created)
    const file = join(folder, name)
    writeFileSync(file, bytes)
    // Helm writes the time of the file into the manifest that it pushes.
    utimesSync(file, created, created)
    return file
  } finally {
    rmSync(work, { recursive: true })
  }
}

function replaceIn(file: string, from: string, to: string): void {
  const text = readFileSync(file, 'utf8')
  if (text.split(from).length !== 2) throw new Error(`${file} must have exactly once: ${from}`)
  writeFileSync(file, text.replace(from, to))
}
