import com.fasterxml.jackson.databind.ObjectMapper;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.errors.OpenAIServiceException;
import com.openai.models.FunctionDefinition;
import com.openai.models.FunctionParameters;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionFunctionTool;
import com.openai.models.chat.completions.ChatCompletionToolChoiceOption;
import com.openai.models.embeddings.EmbeddingCreateParams;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** openai-java, as the other programs here: one line of JSON for each check. */
public class Main {
  static final String URL = System.getenv("HEARTH_URL");
  static final String BUSY = System.getenv("HEARTH_BUSY_URL");

  interface Check {
    void run() throws Exception;
  }

  static OpenAIClient client(String url, String key) {
    return OpenAIOkHttpClient.builder().baseUrl(url + "/v1").apiKey(key).maxRetries(0).build();
  }

  static OpenAIClient hearth() {
    return client(URL, System.getenv("HEARTH_KEY"));
  }

  static ChatCompletionCreateParams.Builder asked(String text) {
    return ChatCompletionCreateParams.builder().model("default").addUserMessage(text).maxCompletionTokens(200);
  }

  static void must(boolean isSo, String what) {
    if (!isSo) throw new IllegalStateException(what);
  }

  static String text(ChatCompletionCreateParams params) {
    return hearth().chat().completions().create(params).choices().get(0).message().content().orElse("");
  }

  static void stream() {
    var text = new StringBuilder();
    try (var events = hearth().chat().completions().createStreaming(asked("Hello!").build())) {
      events.stream()
          .flatMap(chunk -> chunk.choices().stream())
          .forEach(choice -> choice.delta().content().ifPresent(text::append));
    }
    must(text.length() > 0, "no text");
  }

  static void tools() {
    var city = Map.of("city", Map.of("enum", List.of("Paris", "Rome")));
    var parameters =
        FunctionParameters.builder()
            .putAdditionalProperty("type", JsonValue.from("object"))
            .putAdditionalProperty("properties", JsonValue.from(city))
            .putAdditionalProperty("required", JsonValue.from(List.of("city")))
            .build();
    var function = FunctionDefinition.builder().name("weather").parameters(parameters).build();
    var params =
        asked("Hello!")
            .addTool(ChatCompletionFunctionTool.builder().function(function).build())
            .toolChoice(ChatCompletionToolChoiceOption.Auto.REQUIRED)
            .build();
    var message = hearth().chat().completions().create(params).choices().get(0).message();
    must(message.toolCalls().get().get(0).asFunction().function().arguments().contains("city"), "no call");
  }

  public enum Colour {
    RED,
    GREEN,
    BLUE
  }

  public static class Choice {
    public Colour colour;
    public boolean sure;
  }

  static void structured() {
    var params = asked("Hello!").responseFormat(Choice.class).build();
    var choice = hearth().chat().completions().create(params).choices().get(0).message().content().get();
    must(choice.colour != null, "no colour");
  }

  static void embeddings() {
    var params =
        EmbeddingCreateParams.builder().model("default-embedding").inputOfArrayOfStrings(List.of("one", "two")).build();
    var made = hearth().embeddings().create(params).data();
    must(made.size() == 2 && made.get(1).embedding().size() == 768, "no vectors of 768 numbers");
  }

  static void refused(
      OpenAIClient client, int status, String code, String words, ChatCompletionCreateParams params) {
    try {
      client.chat().completions().create(params);
    } catch (OpenAIServiceException error) {
      must(error.statusCode() == status, "status " + error.statusCode());
      must(error.code().orElse("").equals(code), "code " + error.code());
      must(error.getMessage().toLowerCase().contains(words), "text " + error.getMessage());
      return;
    }
    throw new IllegalStateException("nothing was refused");
  }

  static void run(String name, Check check) throws Exception {
    var line = new LinkedHashMap<String, Object>();
    line.put("check", name);
    try {
      check.run();
      line.put("ok", true);
    } catch (Throwable error) {
      line.put("ok", false);
      var text = String.valueOf(error);
      line.put("detail", text.substring(0, Math.min(300, text.length())));
    }
    System.out.println(new ObjectMapper().writeValueAsString(line));
  }

  public static void main(String[] args) throws Exception {
    var jar = OpenAIClient.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    System.out.println("{\"version\": \"" + jar.replaceAll(".*-(\\d[\\d.]*)\\.jar", "$1") + "\"}");
    run("chat", () -> must(!text(asked("Hello!").build()).isEmpty(), "no text"));
    run("stream", Main::stream);
    run("tools", Main::tools);
    run("structured", Main::structured);
    run("embeddings", Main::embeddings);
    run("404", () -> refused(hearth(), 404, "model_not_found", "nobody", asked("Hello!").model("nobody").build()));
    run("400", () -> refused(hearth(), 400, "invalid_request", "temperature", asked("Hello!").temperature(-1.0).build()));
    run("401", () -> refused(client(URL, "wrong"), 401, "unauthorized", "key", asked("Hello!").build()));
    if (BUSY != null)
      run("429", () -> refused(client(BUSY, "any"), 429, "queue_full", "wait", asked("Hello!").build()));
    var tooLong = asked("word ".repeat(400_000)).build();
    run("overflow", () -> refused(hearth(), 400, "context_length_exceeded", "context size", tooLong));
    System.exit(0);
  }
}
