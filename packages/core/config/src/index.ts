export { type ConfigKind, type ConfigReference, configReferences } from './config-references.ts'
export { CONFIG_FIX, configNames, configText } from './config-text.ts'
export { hasContentHash } from './has-content-hash.ts'
export { type ConfigObject, judgeConfig, type UnversionedConfig } from './judge-config.ts'
