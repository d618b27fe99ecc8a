import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import type { BenchOptions } from '../bench-set.ts'
import { measureSet } from '../measure-set.ts'
import { benchSets } from '../sets.ts'
import type { Row } from '../row.ts'
import { dataFolder, RECORDED, readData, writeData } from './data.ts'
import { readMachine } from './machine.ts'
import { pictureFolder, writtenBenchmarks, writtenPictures } from './page.ts'

/**
 * Measures the reported sets one after the other, and writes data, page and pictures after each. Sets with data of the same sources are not
 * measured again, so an interrupted run is continued by the same command.
 *
 * @param named sets to measure even if there is data @default all reported sets without data of these sources
 * @returns whether every set was measured
 */
export async function writeReport(named: readonly string[], options: BenchOptions): Promise<boolean> {
  const { sources } = readMachine()
  const reported = Object.keys(benchSets).filter((name) => benchSets[name]!.isReported)
  const missing = reported.filter((name) => readData(name)?.machine.sources !== sources || sources.endsWith('+'))
  const names = named.length > 0 ? named : missing
  const minutes = names.reduce((sum, name) => sum + (benchSets[name]?.minutes ?? 0), 0)
  console.log(`measures ${names.length} of ${reported.length} sets in about ${minutes} minutes: ${names.join(', ')}`)
  const failed: string[] = []
  for (const name of names) {
    console.log(`${new Date().toISOString().slice(11, 19)} ${name}: about ${benchSets[name]?.minutes ?? '?'} minutes`)
    try {
      writeData(await measureSet(name, options))
    } catch (error) {
      failed.push(name)
      console.error(`${name} failed: ${error instanceof Error ? error.message : String(error)}`)
    }
    writePages()
  }
  writePages()
  if (failed.length > 0) console.error(`not measured: ${failed.join(', ')}; the same command tries them again`)
  return failed.length === 0
}

/** Adds figures of recordings to the report. @param name lower-case letters, digits and `-`; it becomes the heading */
export function saveRecorded(name: string, command: string, rows: readonly Row[]): void {
  if (!/^[a-z0-9-]+$/.test(name)) throw new Error(`--save ${name}: use lower-case letters, digits and -`)
  writeData({ set: `${RECORDED}${name}`, command, day: new Date().toISOString().slice(0, 10), seconds: 0, machine: readMachine(), rows })
  writePages()
}

function writePages(): void {
  const { path, text } = writtenBenchmarks()
  writeFileSync(path, text)
  mkdirSync(pictureFolder, { recursive: true })
  const pictures = writtenPictures()
  for (const file of readdirSync(pictureFolder)) if (!pictures.has(file)) rmSync(`${pictureFolder}/${file}`)
  for (const [file, svg] of pictures) writeFileSync(`${pictureFolder}/${file}`, svg)
  execFileSync('node_modules/.bin/biome', ['format', '--write', dataFolder], { stdio: 'ignore' })
}
