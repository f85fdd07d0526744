# Runs a user's Ruby functions, one at a time: JSON lines in, JSON lines out.
require 'json'

# The user's prints go to stderr; answers go to a private copy of stdout.
ANSWERS = $stdout.dup
ANSWERS.sync = true
$stdout.reopen($stderr)
$loaded = {}

def say(message)
  ANSWERS.write(JSON.generate(message) + "\n")
end

def inline(code)
  holder = Object.new
  parameters = code['parameters'].map { |name| "#{name} = nil" }.join(', ')
  holder.instance_eval("def main(#{parameters})\n#{code['body']}\nend", '<inline>', 0)
  holder.method(:main)
end

def function_of(code)
  return inline(code) if code['kind'] == 'inline'
  path = code['path']
  raise LoadError, "no such file: #{path}" unless File.exist?(path)
  unless $loaded[path]
    load(path)
    $loaded[path] = true
  end
  Object.new.method((code['functionName'] || 'main').to_sym)
end

def work(request)
  value = function_of(request['code']).call(*request['args'])
  if value.is_a?(Float) && !value.finite?
    return { 'ok' => true, 'special' => value.nan? ? 'NaN' : (value > 0 ? 'Infinity' : '-Infinity') }
  end
  JSON.generate([value])
  { 'ok' => true, 'value' => value }
rescue LoadError, NameError => error
  { 'ok' => false, 'message' => error.message }
rescue Exception => error # SystemExit included: user code must not end the process
  { 'ok' => false, 'message' => "#{error.class}: #{error.message}", 'stack' => (error.backtrace || []).join("\n") }
end

say({ 'type' => 'ready' })
$stdin.each_line do |line|
  request = JSON.parse(line)
  say(work(request).merge('type' => 'done', 'id' => request['id']))
end
