import type { Clock } from '@tranche/clock'
import { type ExecConfig, type PluginCredentials, runExecPlugin } from './exec-plugin.ts'
import type { ReadKubeConfig } from './read-kube-config.ts'

/** Credentials from an exec plugin, kept for as long as the plugin says that they hold. */
export interface ExecSession {
  /**
   * Those who ask while the plugin runs get its one answer: there is never more than one of it. A failure is not kept.
   *
   * @param renew runs the plugin although what it gave is not over yet
   * @throws {AppError} KUBECONFIG_INVALID
   */
  credentials(read: ReadKubeConfig, exec: ExecConfig, renew: boolean): Promise<PluginCredentials>
}

/** @returns a session that has asked nothing yet */
export function createExecSession(clock: Clock): ExecSession {
  let kept: PluginCredentials | null = null
  let running: Promise<PluginCredentials> | null = null
  return {
    async credentials(read, exec, renew) {
      if (kept !== null && !renew && clock.nowMs() < kept.endsAtMs) return kept
      running ??= runExecPlugin(clock, read, exec).finally(() => (running = null))
      kept = await running
      return kept
    },
  }
}
