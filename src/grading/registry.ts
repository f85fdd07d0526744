import type { Check } from './check.ts';
import { answerRelevance } from './checks/answer-relevance.ts';
import { bleu } from './checks/bleu.ts';
import { classifier } from './checks/classifier.ts';
import { contains, icontains } from './checks/contains.ts';
import { containsHtml } from './checks/contains-html.ts';
import { containsAll, containsAny, icontainsAll, icontainsAny } from './checks/contains-several.ts';
import { contextFaithfulness } from './checks/context-faithfulness.ts';
import { contextRecall } from './checks/context-recall.ts';
import { contextRelevance } from './checks/context-relevance.ts';
import { conversationRelevance } from './checks/conversation-relevance.ts';
import { cost } from './checks/cost.ts';
import { equals } from './checks/equals.ts';
import { factuality } from './checks/factuality.ts';
import { finishReason } from './checks/finish-reason.ts';
import { gEval } from './checks/g-eval.ts';
import { guardrails } from './checks/guardrails.ts';
import { handoffPath } from './checks/handoff-path.ts';
import { human } from './checks/human.ts';
import { isHtml } from './checks/is-html.ts';
import { containsJson, isJson } from './checks/is-json.ts';
import { isRefusal } from './checks/is-refusal.ts';
import { containsSql, isSql } from './checks/is-sql.ts';
import { isValidFunctionCall } from './checks/is-valid-function-call.ts';
import { isValidToolsCall } from './checks/is-valid-openai-tools-call.ts';
import { containsXml, isXml } from './checks/is-xml.ts';
import { javascript } from './checks/javascript.ts';
import { judge } from './checks/judge.ts';
import { latency } from './checks/latency.ts';
import { levenshtein } from './checks/levenshtein.ts';
import { llmRubric } from './checks/llm-rubric.ts';
import { maxTurns } from './checks/max-turns.ts';
import { closedQa } from './checks/model-graded-closedqa.ts';
import { moderation } from './checks/moderation.ts';
import { regex } from './checks/regex.ts';
import { rougeN } from './checks/rouge-n.ts';
import { python, ruby } from './checks/script.ts';
import { similar } from './checks/similar.ts';
import { skillUsed } from './checks/skill-used.ts';
import { startsWith } from './checks/starts-with.ts';
import { stateEquals } from './checks/state-equals.ts';
import { toolCallF1 } from './checks/tool-call-f1.ts';
import { toolCalled } from './checks/tool-called.ts';
import { toolCalledWith } from './checks/tool-called-with.ts';
import { traceErrorSpans } from './checks/trace-error-spans.ts';
import { traceSpanCount } from './checks/trace-span-count.ts';
import { traceSpanDuration } from './checks/trace-span-duration.ts';
import { trajectoryGoalSuccess } from './checks/trajectory-goal-success.ts';
import { trajectoryStepCount } from './checks/trajectory-step-count.ts';
import { trajectoryToolArgsMatch } from './checks/trajectory-tool-args-match.ts';
import { trajectoryToolSequence } from './checks/trajectory-tool-sequence.ts';
import { trajectoryToolUsed } from './checks/trajectory-tool-used.ts';
import { webhook } from './checks/webhook.ts';
import { wordCount } from './checks/word-count.ts';

/** How each type is checked; `select-best` and `max-score` look at whole rows and are in `compare-rows.ts`. */
export const checks: Readonly<Record<string, Check>> = {
  'answer-relevance': answerRelevance,
  bleu,
  classifier,
  contains,
  'contains-all': containsAll,
  'contains-any': containsAny,
  'contains-html': containsHtml,
  'contains-json': containsJson,
  'contains-sql': containsSql,
  'contains-xml': containsXml,
  'context-faithfulness': contextFaithfulness,
  'context-recall': contextRecall,
  'context-relevance': contextRelevance,
  'conversation-relevance': conversationRelevance,
  cost,
  equals,
  factuality,
  'finish-reason': finishReason,
  'g-eval': gEval,
  guardrails,
  'handoff-path': handoffPath,
  human,
  icontains,
  'icontains-all': icontainsAll,
  'icontains-any': icontainsAny,
  'is-html': isHtml,
  'is-json': isJson,
  'is-refusal': isRefusal,
  'is-sql': isSql,
  'is-valid-function-call': isValidFunctionCall,
  'is-valid-openai-function-call': isValidFunctionCall,
  'is-valid-openai-tools-call': isValidToolsCall,
  'is-xml': isXml,
  javascript,
  judge,
  latency,
  levenshtein,
  'llm-rubric': llmRubric,
  'max-turns': maxTurns,
  'model-graded-closedqa': closedQa,
  'model-graded-factuality': factuality,
  moderation,
  python,
  regex,
  'rouge-n': rougeN,
  ruby,
  similar,
  'similar:cosine': similar,
  'similar:dot': similar,
  'similar:euclidean': similar,
  'skill-used': skillUsed,
  'starts-with': startsWith,
  'state-equals': stateEquals,
  'tool-call-f1': toolCallF1,
  'tool-called': toolCalled,
  'tool-called-with': toolCalledWith,
  'trace-error-spans': traceErrorSpans,
  'trace-span-count': traceSpanCount,
  'trace-span-duration': traceSpanDuration,
  'trajectory:goal-success': trajectoryGoalSuccess,
  'trajectory:step-count': trajectoryStepCount,
  'trajectory:tool-args-match': trajectoryToolArgsMatch,
  'trajectory:tool-sequence': trajectoryToolSequence,
  'trajectory:tool-used': trajectoryToolUsed,
  webhook,
  'word-count': wordCount,
};
