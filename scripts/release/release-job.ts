import { join } from 'node:path'
import type { Addresses } from './addresses.ts'
import type { WorkflowRun } from './provenance.ts'

/** One version to release, and its places. */
export interface ReleaseJob {
  /** Such as `1.2.3`. */
  readonly version: string
  readonly commit: string
  /** Time of the commit, which every built file has. */
  readonly created: Date
  readonly addresses: Addresses
  /** Run of the workflow; null in a dry run. */
  readonly workflow: WorkflowRun | null
  /** Folder of archives for macOS, which were built there; null without them. */
  readonly darwin: string | null
  /** Folder of everything that is built. */
  readonly folder: string
}

/** Folders and files below the folder of a job. */
export interface ReleasePaths {
  /** Layout of the image. */
  readonly image: string
  /** Layout of the chart. */
  readonly chart: string
  readonly executables: string
  /** Files of the version's page. */
  readonly files: string
  readonly npm: string
  /** Text of the version's page. */
  readonly notes: string
  /** Signed statements about image and chart, and the key of a dry run. */
  readonly signatures: string
}

/** @returns where a job has its parts */
export function pathsOf({ folder }: Pick<ReleaseJob, 'folder'>): ReleasePaths {
  const at = (name: string): string => join(folder, name)
  return {
    image: at('image'),
    chart: at('chart'),
    executables: at('executables'),
    files: at('files'),
    npm: at('npm'),
    notes: at('notes.md'),
    signatures: at('signatures'),
  }
}
