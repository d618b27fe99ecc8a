/** Publishes to a registry on this machine, pulls everything back, and runs it. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { npmNameOf } from './addresses.ts'
import { archiveName, sha256Of } from './archives.ts'
import { indexOfLayout, keepAsLayout, pullImage, pushLayout, tagImage } from './push-layout.ts'
import { RegistryClient } from './registry-client.ts'
import { pathsOf, type ReleaseJob } from './release-job.ts'
import type { CommandRunner } from './run-command.ts'

/** Image and chart in a registry. */
export interface PartClients {
  readonly image: RegistryClient
  readonly chart: RegistryClient
}

/** @param host of a registry on this machine */
export function loopbackClients(host: string): PartClients {
  const client = (path: string): RegistryClient => new RegistryClient({ name: `${host}/${path}`, plain: true })
  return { image: client('tranche'), chart: client('charts/tranche') }
}

/** Pushes the image, and pulls it back by digest. */
export async function rehearseImage(job: ReleaseJob, { image }: PartClients): Promise<string> {
  const { digest } = await pushLayout(pathsOf(job).image, image)
  await tagImage(image, job.version, digest)
  const platforms = await pullImage(image, digest)
  return `pulled ${platforms.join(' and ')} by digest`
}

/** A registry on this machine, and the program that pushes to it. */
export interface HelmTarget {
  readonly host: string
  readonly helm: string
}

/** Pushes the chart with helm, pulls it back with helm by digest, and keeps it as a layout. */
export async function rehearseChart(job: ReleaseJob, { host, helm }: HelmTarget, run: CommandRunner): Promise<string> {
  const { files, chart } = pathsOf(job)
  const work = mkdtempSync(join(tmpdir(), 'tranche-helm-'))
  try {
    const environment = Object.fromEntries(['CACHE', 'CONFIG', 'DATA'].map((name) => [`HELM_${name}_HOME`, join(work, name)]))
    const name = `tranche-${job.version}.tgz`
    await run(helm, ['push', join(files, name), `oci://${host}/charts`, '--plain-http'], { environment })
    const { digest } = await keepAsLayout(chart, loopbackClients(host).chart, job.version)
    await run(helm, ['pull', `oci://${host}/charts/tranche@${digest}`, '--plain-http', '--destination', work], { environment })
    const pulled = readdirSync(work).find((file) => file.endsWith('.tgz')) ?? ''
    if (sha256Of(readFileSync(join(work, pulled))) !== sha256Of(readFileSync(join(files, name))))
      throw new Error(`${name} is another file after helm pushed and pulled it`)
    await run(helm, ['template', 'tranche', join(work, pulled)], { environment })
    return `pulled ${digest} and rendered it`
  } finally {
    rmSync(work, { recursive: true })
  }
}

/** Runs the command line from its archive and from the npm package. */
export async function rehearseCommandLine(job: ReleaseJob, run: CommandRunner): Promise<string> {
  const { files, npm } = pathsOf(job)
  const work = mkdtempSync(join(tmpdir(), 'tranche-rehearsal-'))
  try {
    const environment = { XDG_CACHE_HOME: join(work, 'cache'), HOME: work }
    const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'
    mkdirSync(join(work, 'archive'))
    execFileSync('tar', [
      '--extract',
      '--file',
      join(files, archiveName(job.version, `linux-${architecture}`)),
      '--directory',
      join(work, 'archive'),
    ])
    expectVersion(await run(join(work, 'archive/tranche'), ['version'], { environment }), job.version)
    const [file = ''] = readdirSync(npm)
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--prefix', work, resolve(npm, file)], { environment })
    const program = join(work, 'node_modules', npmNameOf(job.addresses), 'bin/tranche.mjs')
    expectVersion(await run(process.execPath, [program, 'version'], { environment }), job.version)
    return `linux-${architecture} and the npm package run; other archives are not run here`
  } finally {
    rmSync(work, { recursive: true })
  }
}

/** @returns digests of image and chart, without their algorithm */
export function digestsOf(job: ReleaseJob): Readonly<Record<'image' | 'chart', string>> {
  const { image, chart } = pathsOf(job)
  const [imageDigest = '', chartDigest = ''] = [image, chart].map((folder) => indexOfLayout(folder).digest.slice('sha256:'.length))
  return { image: imageDigest, chart: chartDigest }
}

function expectVersion(printed: string, version: string): void {
  if (!printed.startsWith(`tranche ${version} `)) throw new Error(`"tranche version" printed "${printed}" instead of ${version}`)
}
