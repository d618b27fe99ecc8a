import type { Publisher } from './publish-parts.ts'
import type { ReleaseStep } from './run-steps.ts'

/** Everything that a release does, in the order of its steps. Each method says what it did, in one line. */
export interface ReleaseTools extends Publisher {
  /** The places that name the version agree. */
  checkVersion(): Promise<string>
  /** Addresses and credentials are there. */
  checkCredentials(): Promise<string>
  /** Programs of other projects are there. */
  checkPrograms(): Promise<string>
  buildImage(): Promise<string>
  buildArchives(): Promise<string>
  buildChart(): Promise<string>
  buildNpm(): Promise<string>
  /** Writes the manifests of krew and Homebrew. */
  buildManifests(): Promise<string>
  buildBills(): Promise<string>
  rehearseImage(): Promise<string>
  rehearseChart(): Promise<string>
  rehearseCommandLine(): Promise<string>
  writeChecksums(): Promise<string>
  signParts(): Promise<string>
  verifyParts(): Promise<string>
}

/** @returns the steps of a release: all is built, tried and signed before anything is published, and the last step shows the version's page */
export function releaseSteps(tools: ReleaseTools): readonly ReleaseStep[] {
  return [
    { phase: 'check', name: 'version', run: () => tools.checkVersion() },
    { phase: 'check', name: 'credentials', run: () => tools.checkCredentials() },
    { phase: 'check', name: 'programs', run: () => tools.checkPrograms() },
    { phase: 'build', name: 'image', run: () => tools.buildImage() },
    { phase: 'build', name: 'archives', run: () => tools.buildArchives() },
    { phase: 'build', name: 'chart', run: () => tools.buildChart() },
    { phase: 'build', name: 'npm package', run: () => tools.buildNpm() },
    { phase: 'build', name: 'krew, Homebrew', run: () => tools.buildManifests() },
    { phase: 'build', name: 'SBOM', run: () => tools.buildBills() },
    { phase: 'rehearse', name: 'image', run: () => tools.rehearseImage() },
    { phase: 'rehearse', name: 'chart', run: () => tools.rehearseChart() },
    { phase: 'rehearse', name: 'command line', run: () => tools.rehearseCommandLine() },
    { phase: 'sign', name: 'checksums', run: () => tools.writeChecksums() },
    { phase: 'sign', name: 'signatures', run: () => tools.signParts() },
    { phase: 'sign', name: 'verification', run: () => tools.verifyParts() },
    { phase: 'publish', name: 'image, chart', run: () => tools.pushParts() },
    { phase: 'publish', name: 'draft', run: () => tools.draftPage() },
    { phase: 'publish', name: 'tags', run: () => tools.tagParts() },
    { phase: 'publish', name: 'npm package', run: () => tools.publishNpm() },
    { phase: 'publish', name: 'page', run: () => tools.publishPage() },
  ]
}
