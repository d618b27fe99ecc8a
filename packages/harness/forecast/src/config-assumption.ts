import { type ConfigObject, configText, judgeConfig, pinKey, pinsOf } from '@tranche/config'
import type { DaemonSet } from '@tranche/kube-types'

/**
 * Describes the config of the planned template that may change without a release, judged by names.
 *
 * @param immutable objects that never change, whatever their names
 * @returns one sentence, without full stop; empty where all config is part of the version
 */
export function configAssumption({ spec }: DaemonSet, immutable: readonly ConfigObject[]): readonly string[] {
  const pins = pinsOf(spec.template)
  const isFixed = ({ kind, name }: ConfigObject): boolean =>
    pins.has(pinKey({ kind, name })) || immutable.some((one) => one.kind === kind && one.name === name)
  const found = judgeConfig(spec.template, isFixed)
  return found === null ? [] : [`config is assumed to stay as it is: ${configText(found)}`]
}
